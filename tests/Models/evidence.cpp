#include "evidence-mirror.h"
#include "evidence-parity.h"
#include "evidence-ring.h"

int main(int count, char** arguments) {
    parse(count, arguments);
    ReadRules();
    if (opt("parity", 0)) return parity::Run();
    return opt("ring", 0) ? ring::Run() : mirror::Run();
}
