import express from 'express'
import { withExplorer } from 'portcullis/explorer'
import { expressHandler } from 'portcullis/express'
import type { TestController } from 'portcullis/testing'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'

/**
 * Serves a controller and its explorer without TLS until the test is over, and answers the address of the page: a browser that
 * is driven by its standard would ask which certificate to show, and wait.
 */
export async function plainlyServed(net: TestController): Promise<string> {
  const port = await freePort()
  const app = express()
  app.use(expressHandler(withExplorer(net)))
  const server = app.listen(port, '127.0.0.1')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${port}/portcullis/explorer/`
}
