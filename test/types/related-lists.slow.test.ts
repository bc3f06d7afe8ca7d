import { apiDocuments } from 'portcullis'
import type { ManagementApi } from 'portcullis/client'
import { describe, expect, it } from 'vitest'

/** The routes of what belongs to one entity, as the typed client has them. */
type RelatedRoute = Exclude<
  Extract<keyof ManagementApi, `GET /${string}/{id}/${string}`>,
  `GET /${string}/{id}/${string}/${string}`
>

/** The routes that the typed client knows: the compiler refuses a missing one, and one too many. */
const TYPED: Readonly<Record<RelatedRoute, true>> = {
  'GET /cas/{id}/jwt': true,
  'GET /config-types/{id}/configs': true,
  'GET /configs/{id}/services': true,
  'GET /controller-settings/{id}/effective': true,
  'GET /edge-router-policies/{id}/edge-routers': true,
  'GET /edge-router-policies/{id}/identities': true,
  'GET /edge-routers/{id}/edge-router-policies': true,
  'GET /edge-routers/{id}/identities': true,
  'GET /edge-routers/{id}/service-edge-router-policies': true,
  'GET /edge-routers/{id}/services': true,
  'GET /identities/{id}/authenticators': true,
  'GET /identities/{id}/edge-router-policies': true,
  'GET /identities/{id}/edge-routers': true,
  'GET /identities/{id}/enrollments': true,
  'GET /identities/{id}/failed-service-requests': true,
  'GET /identities/{id}/posture-data': true,
  'GET /identities/{id}/service-configs': true,
  'GET /identities/{id}/service-policies': true,
  'GET /identities/{id}/services': true,
  'GET /service-edge-router-policies/{id}/edge-routers': true,
  'GET /service-edge-router-policies/{id}/services': true,
  'GET /service-policies/{id}/identities': true,
  'GET /service-policies/{id}/posture-checks': true,
  'GET /service-policies/{id}/services': true,
  'GET /services/{id}/configs': true,
  'GET /services/{id}/edge-routers': true,
  'GET /services/{id}/identities': true,
  'GET /services/{id}/service-edge-router-policies': true,
  'GET /services/{id}/service-policies': true,
  'GET /services/{id}/terminators': true,
  'GET /sessions/{id}/route-path': true,
  'GET /specs/{id}/spec': true,
}

describe('the typed client', () => {
  it('knows every list and every view of what belongs to an entity', async () => {
    const { management } = await apiDocuments('v0')
    const served = Object.entries(management.paths ?? {}).flatMap(([path, methods]) =>
      'get' in Object(methods) && /^\/[^/]+\/\{id\}\/[^/]+$/.test(path) ? [`GET ${path}`] : [],
    )
    expect(Object.keys(TYPED).sort()).toEqual(served.sort())
  })
})
