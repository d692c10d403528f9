import Deployment

await SpindleCommand.main()
