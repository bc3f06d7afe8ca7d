import { createController } from 'portcullis'
import { mapStorage } from './map-storage.ts'

const storage = mapStorage()
const controller = await createController({ address: 'controller.example:1280', storage })
console.log('ready at revision', await storage.read(async (tx) => tx.revision))
await controller.close()
