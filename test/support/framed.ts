import { createServer, request } from 'node:http'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'

/** Headers by which a page keeps out of frames. */
const UNFRAMED = ['x-frame-options', 'content-security-policy']

/**
 * Serves a page that is served without TLS in a frame as well, until the test is over, and answers the address of the page around it: a
 * frame is as narrow as a test wants, where a browser keeps its window wider.
 */
export async function framed(url: string): Promise<string> {
  const port = await freePort()
  const { origin, pathname } = new URL(url)
  const around = `<!doctype html><body style="margin:0"><iframe style="border:0;width:1280px;height:900px" src="${pathname}"></iframe>`
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/framed') {
      outgoing.setHeader('content-type', 'text/html').end(around)
      return
    }
    const { method, headers } = incoming
    const passed = request(`${origin}${incoming.url}`, { method, headers }, (answer) => {
      for (const name of UNFRAMED) delete answer.headers[name]
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${port}/framed`
}
