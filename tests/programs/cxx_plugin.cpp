// A plugin that makes a thread by C++'s library, as many do.
#include <thread>

static std::thread thread;

extern "C" void start_thread(void *(*run)(void *))
{
    thread = std::thread(run, nullptr);
}

extern "C" void join_thread()
{
    thread.join();
}
