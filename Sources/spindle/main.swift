import Server

await SpindleCommand.main()
