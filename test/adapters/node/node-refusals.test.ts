import { createListener, serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { withSharedPki } from '../../support/shared-pki.ts'
import { exchange, parseResponse, requestText, withHttpServer } from './raw-http.ts'
import { openTls, receiveAll } from './tls-client.ts'

const OWN = /^(?:date|connection|keep-alive|content-length|content-type|www-authenticate):/i

/** The header lines that do not depend on the answer. */
function commonLines(text: string): readonly string[] {
  const [, ...lines] = parseResponse(text).head.split('\r\n')
  return lines.filter((line) => !OWN.test(line)).sort()
}

const REFUSED: readonly (readonly [number, string])[] = [
  [405, requestText('TRACE /')],
  [413, requestText('POST /', ['Content-Length: 1073741824'])],
  [415, requestText('POST /', ['Content-Encoding: gzip'], '{}')],
]

it.each(REFUSED)(
  'a refusal before the controller sees the request (%i) has the headers of every answer',
  async (status, text) => {
    const controller = await createTestController(await withSharedPki())
    onTestFinished(() => controller.close())
    const listener = createListener(controller.fetch, { answerHeaders: () => controller.answerHeaders })
    const [answered, refused] = await withHttpServer(listener, async (port) => [
      await exchange(port, requestText('GET /version')),
      await exchange(port, text),
    ])
    expect(parseResponse(refused).status).toBe(status)
    expect(commonLines(answered)).toHaveLength(4)
    expect(commonLines(refused)).toEqual(commonLines(answered))
  },
)

it('so has a failure of the host, and what serve refuses', async () => {
  const controller = await createTestController(await withSharedPki({ now: Date.now() }))
  const failing = () => Promise.reject(new Error('the host failed'))
  const options = { answerHeaders: () => controller.answerHeaders, onError: () => undefined }
  const failed = await withHttpServer(createListener(failing, options), (port) => exchange(port, requestText('GET /')))
  expect(parseResponse(failed).status).toBe(500)
  const lines = Object.entries(controller.answerHeaders).map(([name, value]) => `${name}: ${value}`)
  expect(commonLines(failed)).toEqual(lines.sort())

  const server = await serve(controller, { port: 0 })
  onTestFinished(async () => {
    await server.close({ graceMs: 0 })
    await controller.close()
  })
  const socket = await openTls(server.port)
  socket.write(requestText('TRACE /'))
  expect(commonLines(await receiveAll(socket))).toEqual(lines)
})
