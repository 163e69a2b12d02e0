import sys

from slabmark.command_line import main

sys.exit(main())
