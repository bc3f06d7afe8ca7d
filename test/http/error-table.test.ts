import { expect, it } from 'vitest'
import { expectError } from '../contract/http/errors.ts'
import { adminOf } from '../contract/http/foreign-client.ts'
import { mount } from '../support/mount.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const password = { username: 'a'.repeat(101), password: 'some-password' }

/** Refusals whose words clients show: a request, the code that it is answered with, and its cause. */
const TABLE: readonly (readonly [string, string, unknown, string, object])[] = [
  [
    'POST',
    '/edge-routers',
    { name: 'a', cost: 65_536 },
    'COULD_NOT_VALIDATE',
    { field: 'cost', reason: 'cost in body should be less than or equal to 65535', value: '65536' },
  ],
  [
    'POST',
    '/edge-routers',
    { name: 'a', cost: -1 },
    'COULD_NOT_VALIDATE',
    { field: 'cost', reason: 'cost in body should be greater than or equal to 0', value: '-1' },
  ],
  [
    'POST',
    '/posture-checks',
    { name: 'a', typeId: 'DOMAIN', domains: [] },
    'COULD_NOT_VALIDATE',
    { field: 'domains', reason: 'domains in body should have at least 1 items', value: '[]' },
  ],
  [
    'POST',
    '/authenticate?method=password',
    password,
    'COULD_NOT_VALIDATE',
    { field: 'username', reason: 'username in body should be at most 100 chars long' },
  ],
  ['PATCH', '/services/unknown', [], 'COULD_NOT_PARSE_BODY', { code: 'UNHANDLED' }],
  ['POST', '/services', { name: 7 }, 'COULD_NOT_PARSE_BODY', { code: 'UNHANDLED' }],
]

it.each(TABLE)('%s %s %j: %s', async (method, path, body, code, cause) => {
  const admin = await adminOf(await mount())
  expectError(await admin.send(method, path, { body: JSON.stringify(body), headers: JSON_TYPE }), code, cause)
})

it.each([';;;', 'json', 'application/', '/json', 'a b/c'])('the content type %j is malformed', async (contentType) => {
  const admin = await adminOf(await mount())
  const answer = await admin.send('POST', '/services', {
    body: '{"name":"a"}',
    headers: { 'content-type': contentType },
  })
  const message = expect.stringContaining('malformed content type')
  expectError(answer, 'COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message })
  expect((await admin.get('/services')).body.data).toEqual([])
})

it.each(['text/plain', 'application/xml; charset=utf-8', 'application/jsonp'])(
  '%s is no media type that is taken',
  async (contentType) => {
    const admin = await adminOf(await mount())
    const answer = await admin.send('POST', '/services', {
      body: '{"name":"a"}',
      headers: { 'content-type': contentType },
    })
    expectError(answer, 'COULD_NOT_VALIDATE', { field: 'Content-Type', value: contentType }, 415)
  },
)
