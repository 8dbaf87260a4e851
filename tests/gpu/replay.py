# Opens the capture named on the command line with RenderDoc, replays it on this machine and prints the tree of what it
# does, two spaces a level. Exit status 3: RenderDoc's Python module is missing.
import sys

try:
    import renderdoc as rd
except ImportError as error:
    print(error)
    sys.exit(3)


def walk(action, depth, file):
    print("  " * depth + action.GetName(file))
    for child in action.children:
        walk(child, depth + 1, file)


rd.InitialiseReplay(rd.GlobalEnvironment(), [])
capture = rd.OpenCaptureFile()
result = capture.OpenFile(sys.argv[1], "", None)
if result != rd.ResultCode.Succeeded:
    sys.exit("cannot open the capture: " + str(result))
result, replay = capture.OpenCapture(rd.ReplayOptions(), None)
if result != rd.ResultCode.Succeeded:
    sys.exit("cannot replay the capture: " + str(result))
for action in replay.GetRootActions():
    walk(action, 0, replay.GetStructuredFile())
replay.Shutdown()
capture.Shutdown()
rd.ShutdownReplay()
