import express from 'express'
import { expressHandler } from 'portcullis/express'
import { httpContract } from '../contract/http.ts'
import { ADAPTER_PART } from '../contract/http-part.ts'
import { createServer, listening, tlsOf } from '../support/framework-server.ts'
import { socketMount } from '../support/socket-mount.ts'

httpContract(
  'portcullis/express',
  socketMount((controller) => {
    const app = express()
    app.disable('x-powered-by')
    app.use(expressHandler(controller))
    return listening(createServer(tlsOf(controller), app))
  }),
  ADAPTER_PART,
)
