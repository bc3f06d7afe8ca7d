import { apiDocuments, VERSION } from 'portcullis'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ALL_ROWS } from '../support/api-rows.ts'
import { withSharedPki } from '../support/shared-pki.ts'
import { IS_SHORT } from '../support/suite.ts'

const BASE = 'https://controller.test:1280'
let controller: TestController

async function ask(path: string, init?: RequestInit) {
  const answer = await controller.fetch(new Request(`${BASE}${path}`, init))
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

function linksIn(text: string, from: string): readonly URL[] {
  const targets = [...text.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, target = '']) => target)
  return targets.map((target) => new URL(target, `${BASE}${from}`))
}

beforeAll(async () => {
  controller = await createTestController(await withSharedPki({ apiPage: true }))
})
afterAll(() => controller.close())

describe('the API reference', () => {
  it('is not there unless it is asked for', async () => {
    await using plain = await createTestController(await withSharedPki())
    expect((await plain.fetch(new Request(`${BASE}/portcullis/docs`))).status).toBe(404)
  })

  it('has every operation of every API, with a page of its own', async () => {
    const { text } = await ask('/portcullis/docs')
    const pages = linksIn(text, '/portcullis/docs').map(({ pathname }) => pathname)
    const operations = Object.entries(await apiDocuments(VERSION)).flatMap(([api, { paths }]) =>
      Object.values(paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => `/portcullis/docs/${api}/${operationId}`),
      ),
    )
    expect(operations.length).toBeGreaterThan(256)
    expect(operations.length).toBe(ALL_ROWS.length)
    expect(pages).toEqual(expect.arrayContaining(operations))
    const pagesToSee = operations.filter((_page, at) => !IS_SHORT || at % 12 === 0)
    for (const page of pagesToSee) {
      const shown = await ask(page)
      expect([page, shown.status]).toEqual([page, 200])
      expect(shown.text).not.toMatch(/undefined|\[object Object\]/)
    }
  }, 60_000)

  it('links to the OpenAPI document of each API, which is there as JSON', async () => {
    const { text } = await ask('/portcullis/docs')
    const documents = linksIn(text, '/portcullis/docs').filter(({ pathname }) => pathname.endsWith('.json'))
    expect(documents.map(({ pathname }) => pathname)).toEqual(
      ['management', 'client', 'fabric', 'portcullis'].map((api) => `/portcullis/docs/${api}.json`),
    )
    const served = await ask('/portcullis/docs/client.json')
    expect(served.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(served.text)).toEqual(JSON.parse(JSON.stringify((await apiDocuments(VERSION)).client)))
  })

  it('runs nothing, loads nothing from elsewhere and may not be framed', async () => {
    for (const path of ['/portcullis/docs', '/portcullis/docs/management/postServices', '/portcullis/docs/nothing']) {
      const { headers, text } = await ask(path)
      const policy = headers.get('content-security-policy')
      expect(policy).toBe(
        "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(text).not.toMatch(/<script|<iframe|<img|style=|\son\w+=/i)
      expect(linksIn(text, path).filter(({ origin }) => origin !== BASE)).toEqual([])
    }
  })

  it('shows who may call, what is taken and what is answered', async () => {
    const { text } = await ask('/portcullis/docs/management/putServicesById')
    expect(text).toContain('<h1>Replaces one service</h1>')
    expect(text).toContain('Needs an admin or one of the permissions <code>service</code>')
    expect(text).toContain('<span class="name">terminatorStrategy</span>')
    expect(text).toContain('one of <code>smartrouting</code>, <code>random</code>')
    expect(text).toContain('<span class="status">404</span>')
    expect(text).toContain(
      'curl --cacert ca.pem -X PUT &quot;https://$CONTROLLER/edge/management/v1/services/$ID&quot;',
    )
  })

  it('finds operations by words, and shows what somebody typed as text', async () => {
    const { text } = await ask('/portcullis/docs?q=POST+servICE-policies')
    expect(text).toContain('<h1>2 of ')
    expect(text).toContain('docs/management/postServicePolicies')
    const hostile = await ask(`/portcullis/docs?q=${encodeURIComponent('"><script>alert(1)</script>')}`)
    expect(hostile.text).toContain('<h1>0 of ')
    expect(hostile.text).not.toContain('<script')
    expect((await ask(`/portcullis/docs?q=${'x'.repeat(10_000)}`)).text).not.toContain('x'.repeat(101))
  })

  it('answers HEAD and nothing else that is not GET, and unknown pages 404', async () => {
    expect(await ask('/portcullis/docs', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
    expect((await ask('/portcullis/docs', { method: 'POST' })).status).toBe(405)
    expect((await ask('/portcullis/docs/management/nothing')).status).toBe(404)
    const { status, headers } = await ask('/portcullis/docs/')
    expect([status, headers.get('location')]).toEqual([308, '../docs'])
  })
})
