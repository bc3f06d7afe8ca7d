import { serve } from 'portcullis/node'
import { httpContract } from '../contract/http.ts'
import { ADAPTER_PART } from '../contract/http-part.ts'
import { socketMount } from '../support/socket-mount.ts'

httpContract(
  'portcullis/node',
  socketMount(async (controller) => {
    const server = await serve(controller, { port: 0 })
    return { port: server.port, close: () => server.close({ graceMs: 0 }) }
  }),
  ADAPTER_PART,
)
