#include "evidence-mirror.h"

int main(int count, char** arguments) {
    parse(count, arguments);
    ReadRules();
    return mirror::Run();
}
