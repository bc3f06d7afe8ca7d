import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import express from 'express'
import { Hono } from 'hono'
import type { PlainFetch } from 'portcullis'
import { withExplorer } from 'portcullis/explorer'
import { expressHandler } from 'portcullis/express'
import { honoHandler } from 'portcullis/hono'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

async function scene() {
  const controller = withExplorer(await createTestController({ cors: { origins: ['https://console.example'] } }))
  onTestFinished(() => controller.close())
  const ask = (path: string, init?: RequestInit) =>
    controller.fetch(new Request(`https://controller.test${path}`, init))
  return { controller, ask }
}

const PAGE = '/portcullis/explorer/'

describe('the access explorer', () => {
  it('is a page that runs nothing inline, loads nothing of others and stands in no frame', async () => {
    const { ask } = await scene()
    const page = await ask(PAGE)
    expect(page.status).toBe(200)
    const html = await page.text()
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = new Map(
      (page.headers.get('content-security-policy') ?? '').split('; ').map((one) => {
        const [name = '', ...values] = one.split(' ')
        return [name, values.join(' ')]
      }),
    )
    expect(policy.get('default-src')).toBe("'none'")
    expect(policy.get('script-src')).toBe("'self'")
    expect(policy.get('style-src')).toBe("'self'")
    expect(policy.get('frame-ancestors')).toBe("'none'")
    expect(policy.get('base-uri')).toBe("'none'")
    expect([...policy.values()].join(' ')).not.toMatch(/unsafe|https?:|\*/)
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(page.headers.get('set-cookie')).toBeNull()
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|style=|https?:\/\/(?!www\.w3\.org)/)
  })

  it('serves each file that the page names, with its type and a tag by which it is not sent again', async () => {
    const { ask } = await scene()
    const html = await (await ask(PAGE)).text()
    const names = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(1)
    for (const name of names) {
      const file = await ask(`${PAGE}${name}`)
      expect(file.status, name).toBe(200)
      expect(file.headers.get('content-type'), name).toMatch(/javascript|css|svg/)
      const etag = file.headers.get('etag') ?? ''
      const again = await ask(`${PAGE}${name}`, { headers: { 'if-none-match': `W/"x", ${etag}` } })
      expect([again.status, await again.text()], name).toEqual([304, ''])
      const head = await ask(`${PAGE}${name}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('etag'), await head.text()], name).toEqual([200, etag, ''])
    }
  })

  it('sends each file in the smallest form that a browser takes, and lets it keep what has its hash in the name', async () => {
    const { ask } = await scene()
    const page = await ask(PAGE)
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const name = /src="\.\/(page-[^"]+\.js)"/.exec(await page.text())?.[1]
    const plain = await ask(`${PAGE}${name}`)
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, 'accept-encoding'])
    const bytes = Buffer.from(await plain.arrayBuffer())
    for (const [accepted, coding, decode] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
    ] as const) {
      const coded = await ask(`${PAGE}${name}`, { headers: { 'accept-encoding': accepted } })
      expect(coded.headers.get('content-encoding')).toBe(coding)
      const sent = Buffer.from(await coded.arrayBuffer())
      expect(sent.length).toBeLessThan(bytes.length / 2)
      expect(decode(sent).equals(bytes)).toBe(true)
      expect(coded.headers.get('etag')).not.toBe(plain.headers.get('etag'))
    }
  })

  it('compresses long answers of the APIs that it calls, and no others', async () => {
    const { controller, ask } = await scene()
    const { token } = (
      await controller.management.call('POST /authenticate', {
        query: { method: 'password' },
        body: { username: 'admin', password: 'admin-password' },
      })
    ).data
    const coding = async (path: string, accepted: string) => {
      const answer = await ask(path, { headers: { 'accept-encoding': accepted, 'zt-session': token } })
      const bytes = Buffer.from(await answer.arrayBuffer())
      const code = answer.headers.get('content-encoding')
      const text = code === 'br' ? brotliDecompressSync(bytes) : code === 'gzip' ? gunzipSync(bytes) : bytes
      return [answer.status, code, typeof JSON.parse(text.toString())]
    }
    expect(await coding('/edge/management/v1/config-types', 'gzip, br')).toEqual([200, 'br', 'object'])
    expect(await coding('/edge/management/v1/config-types', 'gzip')).toEqual([200, 'gzip', 'object'])
    expect(await coding('/edge/management/v1/config-types', 'identity')).toEqual([200, null, 'object'])
    expect(await coding('/edge/management/v1/summary', 'br')).toEqual([200, null, 'object'])
    expect(await coding('/edge/client/v1/version', 'br')).toEqual([200, null, 'object'])
    // Adapters for Node ask in plain values.
    const headers = { 'content-type': 'application/json', vary: 'origin' }
    const plain: PlainFetch = async () => ({ status: 200, headers, body: JSON.stringify('ä'.repeat(5000)) })
    const { fetch } = withExplorer({ fetch: Object.assign(async () => new Response(), { plain }) })
    const url = 'https://controller.test/portcullis/v1/audit'
    const asked = { method: 'GET', url, headers: new Headers({ 'accept-encoding': 'br' }), readBody: () => undefined }
    const answer = await fetch.plain?.(asked)
    expect(answer?.headers).toMatchObject({ 'content-encoding': 'br', vary: 'origin, accept-encoding' })
    expect(
      JSON.parse(
        brotliDecompressSync(new Uint8Array(answer?.body instanceof Uint8Array ? answer.body : [])).toString(),
      ),
    ).toBe('ä'.repeat(5000))
  })

  it('leads nowhere else, and takes nothing', async () => {
    const { ask } = await scene()
    const paths = [
      'package.json',
      '%2e%2e/index.ts',
      '..%2findex.ts',
      '..\\index.ts',
      'page.js/',
      'index.html%00',
      '__proto__',
      'constructor',
      '/etc/passwd',
    ]
    for (const path of paths) {
      const { status, headers } = await ask(`${PAGE}${path}`)
      expect(status, path).toBe(404)
      expect(headers.get('x-content-type-options'), path).toBe('nosniff')
    }
    const posted = await ask(PAGE, { method: 'POST', body: 'x' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await ask('/portcullis/explorers')).status).toBe(404)
  })

  it('may be read by no page of another origin, and leaves everything else to the controller', async () => {
    const { ask } = await scene()
    const page = await ask(PAGE, { headers: { origin: 'https://console.example' } })
    expect(page.headers.get('access-control-allow-origin')).toBeNull()
    expect(page.headers.get('cross-origin-resource-policy')).toBe('same-origin')
    const version = await ask('/version')
    expect(await version.json()).toHaveProperty('data')
  })

  it('is found below whatever prefix a host mounts the controller', async () => {
    const { controller } = await scene()
    const hono = new Hono()
    hono.all('/net/*', honoHandler(controller, { connectionInfo: () => ({}) }))
    const moved = await hono.request('/net/portcullis/explorer')
    expect([moved.status, moved.headers.get('location')]).toEqual([308, 'explorer/'])
    expect((await hono.request('/net/portcullis/explorer/')).headers.get('content-type')).toMatch('text/html')

    const app = express()
    app.use('/net', expressHandler(controller))
    const server = createServer(app).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const followed = await fetch(`http://127.0.0.1:${port}/net/portcullis/explorer`)
    expect(followed.url).toBe(`http://127.0.0.1:${port}/net/portcullis/explorer/`)
    expect(await followed.text()).toMatch(/<html/)
  })
})
