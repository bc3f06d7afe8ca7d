import { describe, expect, it } from 'vitest'
// Internals: the operations of the APIs as data, so that none is left out.
import type { RelatedRoute } from '../../src/apis/apis.ts'
import { RELATIONS } from '../../src/entities/related.ts'

/** The routes that the typed client knows: the compiler refuses one that is missing, or one too many. */
const TYPED: Readonly<Record<RelatedRoute, true>> = {
  'GET /identities/{id}/services': true,
  'GET /identities/{id}/edge-routers': true,
  'GET /identities/{id}/service-policies': true,
  'GET /identities/{id}/edge-router-policies': true,
  'GET /services/{id}/identities': true,
  'GET /services/{id}/edge-routers': true,
  'GET /services/{id}/service-policies': true,
  'GET /services/{id}/service-edge-router-policies': true,
  'GET /edge-routers/{id}/identities': true,
  'GET /edge-routers/{id}/services': true,
  'GET /edge-routers/{id}/edge-router-policies': true,
  'GET /edge-routers/{id}/service-edge-router-policies': true,
  'GET /service-policies/{id}/identities': true,
  'GET /service-policies/{id}/services': true,
  'GET /service-policies/{id}/posture-checks': true,
  'GET /edge-router-policies/{id}/identities': true,
  'GET /edge-router-policies/{id}/edge-routers': true,
  'GET /service-edge-router-policies/{id}/services': true,
  'GET /service-edge-router-policies/{id}/edge-routers': true,
}

describe('the typed client', () => {
  it('knows every list of who and what policies bring together', () => {
    const served = RELATIONS.map(({ of, to }) => `GET /${of}/{id}/${to}`)
    expect(Object.keys(TYPED).sort()).toEqual(served.sort())
  })
})
