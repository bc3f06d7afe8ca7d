// Runs in a process of each tree: makes a controller, has it answer once, and tells the processor time of all since the start.
import { createTestController } from 'portcullis/testing'

const controller = await createTestController()
await (await controller.fetch(new Request('https://controller.test/edge/client/v1/version'))).text()
const { user, system } = process.cpuUsage()
process.send?.({ cpuMs: (user + system) / 1000 }, () => process.exit(0))
