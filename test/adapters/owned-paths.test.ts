import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import { apiDocuments, VERSION } from 'portcullis'
import { expressHandler } from 'portcullis/express'
import { httpsFetch, serve } from 'portcullis/node'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'

it('passes the paths of the controller on before the routes of an application, and leaves the rest', async () => {
  const net = await createTestController({ clock: 'live' })
  const app = express()
  const handler = expressHandler(net)
  app.use((request, response, next) => (net.owns(request) ? handler(request, response, next) : next()))
  app.use((_request, response) => void response.status(404).send('of the application'))
  const server = await serve(net, { port: 0, app })
  onTestFinished(() => server.close({ graceMs: 0 }))
  const fetch = httpsFetch({ ca: net.caPem })
  const text = async (path: string) => (await fetch(new Request(`${server.url}${path}`))).text()
  for (const path of ['/version', '/edge/management/v1/version?a=/b', '/edge/client/v1/version/']) {
    expect(await text(path)).toContain('apiVersions')
  }
  // The provider itself answers so at a host that is no issuer.
  expect(await text('/oidc/keys')).toBe('404 page not found\n')
  for (const path of ['/', '/services', '/edges?path=/edge/client/v1'])
    expect(await text(path)).toBe('of the application')
})

it.each([
  ['/edge/client/v1', true],
  ['/edge/management/v1/services/x', true],
  ['/edge/unknown', true],
  ['//edge//v1', true],
  ['/fabric/v1/routers', true],
  ['/portcullis/explorer/', true],
  ['/oidc/keys', true],
  ['/version/?a', true],
  ['/enroll?method=ott', true],
  ['/.well-known/est/cacerts', true],
  ['/.well-known/acme-challenge/x', false],
  ['/.well-known/openid-configuration', false],
  ['/', false],
  ['/identities', false],
  ['/oidcs', false],
  ['/healthz', false],
  ['*', false],
])('%s: %s', async (url, isOwned) => {
  const net = await createTestController()
  expect(net.owns({ url })).toBe(isOwned)
  if (url !== '*') expect(net.owns(new Request(`https://ctrl.example${url}`))).toBe(isOwned)
})

it('owns the paths of the guide and no other path of its APIs', async () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/mounting.md'), 'utf8')
  const [, section = ''] = guide.split('## Paths of the controller\n')
  const listed = [
    ...section
      .split('\n## ', 1)
      .join()
      .matchAll(/`(\/[^`]*)`/g),
  ].map(([, path = '']) => path)
  const covers = (entry: string, path: string) =>
    entry.endsWith('/*') ? path.startsWith(entry.slice(0, -1)) : path === entry
  const net = await createTestController({ probes: true })
  const bases = ['', '/edge/client/v1', '/edge/management/v1', '/fabric/v1', '/portcullis/v1']
  const apis = Object.values(await apiDocuments(VERSION))
  const routes = apis.flatMap((api) => Object.keys(api.paths ?? {}))
  const served = bases.flatMap((base) => routes.map((route) => `${base}${route}`))
  const paths = [...served, '/', '/oidc/keys', '/healthz', '/readyz', '/metrics']
  const owned = new Set(paths.filter((url) => net.owns({ url })))
  expect(paths.filter((path) => owned.has(path) !== listed.some((entry) => covers(entry, path)))).toEqual([])
  expect(listed.filter((entry) => ![...owned].some((path) => covers(entry, path)))).toEqual([])
})

it('owns the probes and the OpenID provider where they are on', async () => {
  const net = await createTestController({ probes: true, oidc: false })
  expect(['/healthz', '/readyz', '/metrics', '/oidc/keys'].map((url) => net.owns({ url }))).toEqual([
    true,
    true,
    true,
    false,
  ])
})
