public import Administration

/// Who acts where a test is about something else: nothing is refused to the command line.
public let commandLine = Administrator.commandLine
