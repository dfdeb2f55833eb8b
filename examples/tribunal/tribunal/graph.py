from tribunal import script

graph = script.compile("tribunal")
