import { createListener } from 'portcullis/node'
import { describe, expect, it } from 'vitest'
import { echo, exchange, parseResponse, requestText, withHttpServer } from './raw-http.ts'

describe('below a framework that has read the body', () => {
  const behindParser = (
    parse: (text: string) => unknown,
    text: string,
    onError: (error: unknown) => void = () => {},
  ) => {
    const listener = createListener(echo, { onError })
    return withHttpServer(
      async (incoming, outgoing) => {
        let read = ''
        for await (const chunk of incoming) read += chunk
        Object.assign(incoming, { body: parse(read), originalUrl: `/mounted${incoming.url}` })
        listener(incoming, outgoing)
      },
      async (port) => parseResponse(await exchange(port, text)),
    )
  }

  it.each([
    ['application/json', '{ "a": [1, null] }', JSON.parse, '{"a":[1,null]}'],
    ['application/json', '[]', JSON.parse, '[]'],
    ['text/plain', '-----BEGIN', (text: string) => text, '-----BEGIN'],
    ['application/x-pem-file', 'PEM', (text: string) => Buffer.from(text), 'PEM'],
    [
      'application/x-www-form-urlencoded; charset=utf-8',
      'grant_type=refresh_token&scope=a&scope=b+c',
      () => ({ grant_type: 'refresh_token', scope: ['a', 'b c'] }),
      'grant_type=refresh_token&scope=a&scope=b+c',
    ],
  ])('a %s body %j is serialized again', async (type, sent, parse, received) => {
    const response = await behindParser(parse, requestText('POST /x', [`Content-Type: ${type}`], sent))
    expect(JSON.parse(response.body)).toMatchObject({
      url: 'http://localhost/mounted/x',
      body: received,
      headers: { 'content-length': String(received.length) },
    })
  })

  it('the empty object that stands for no body is no body', async () => {
    const response = await behindParser(() => ({}), requestText('POST /x', ['Content-Length: 0']))
    expect(JSON.parse(response.body).body).toBe('')
  })

  it('a body that nobody kept is an error of the host, masked', async () => {
    const errors: unknown[] = []
    const response = await behindParser(
      () => undefined,
      requestText('POST /x', [], 'lost'),
      (e) => errors.push(e),
    )
    expect(response.status).toBe(500)
    expect(String(errors[0])).toContain('was read before portcullis could')
  })
})
