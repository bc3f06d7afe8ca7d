import { readFile } from 'node:fs/promises'
import { createClient, createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import type { Network } from '../wire/network.ts'

/** Requests of all kinds, in turns. */
export interface MixedLoad {
  /** Does one thing that devices or administrators do; answers how many requests it took. What it creates, it deletes. */
  step(): Promise<number>
}

/** The daily work of devices and administrators, over TLS against the server of a port. */
export async function mixedLoad(port: number, pki: string, network: Network): Promise<MixedLoad> {
  const baseUrl = `https://127.0.0.1:${port}`
  const ca = await readFile(`${pki}/ca.pem`, 'utf8')
  const fetch = httpsFetch({ ca })
  const admin = createManagementClient({ baseUrl, fetch, token: network.adminToken })
  const anonymous = createClient({ baseUrl, fetch })
  const device = createClient({ baseUrl, fetch, token: network.identityToken })
  const enrolled = network.certificates.map((certificate) => httpsFetch({ ca, ...certificate }))
  let round = 0
  const one = <T>(list: readonly T[]): T => {
    const found = list[(round * 7919) % list.length]
    if (found === undefined) throw new Error('the list is empty')
    return found
  }
  const serviceId = () => one(network.serviceIds)
  const identityId = () => one(network.identityIds)

  async function useSession(client: typeof anonymous): Promise<number> {
    await client.call('POST /posture-response', {
      body: { typeId: 'OS', id: 'os', type: 'Linux', version: `6.${round % 50}.0` },
    })
    await client.call('GET /services', { query: { limit: 20, offset: round % 50 } })
    await client.call('GET /services/{id}', { params: { id: serviceId() } })
    await client.call('DELETE /current-api-session')
    return 5
  }

  const steps: readonly (() => Promise<number>)[] = [
    () => admin.call('GET /services/{id}', { params: { id: serviceId() } }).then(() => 1),
    () => device.call('GET /services', { query: { limit: 100 } }).then(() => 1),
    () => device.call('GET /current-api-session/service-updates').then(() => 1),
    () => device.call('GET /current-identity').then(() => 1),
    () =>
      admin.call('GET /identities', { query: { filter: `name contains "${round % 100}"`, limit: 25 } }).then(() => 1),
    () => admin.call('GET /identities/{id}', { params: { id: identityId() } }).then(() => 1),
    () =>
      admin
        .call('GET /identities/{id}/policy-advice/{serviceId}', {
          params: { id: identityId(), serviceId: serviceId() },
        })
        .then(() => 1),
    async () => {
      const own = createClient({ baseUrl, fetch: one(enrolled) })
      const { data: session } = await own.call('POST /authenticate', { query: { method: 'cert' }, body: {} })
      return useSession(createClient({ baseUrl, fetch: one(enrolled), token: session.token }))
    },
    async () => {
      const bearer = createClient({
        baseUrl,
        fetch: (request) => {
          request.headers.set('authorization', `Bearer ${network.jwt}`)
          return fetch(request)
        },
      })
      const { data: session } = await bearer.call('POST /authenticate', { query: { method: 'ext-jwt' }, body: {} })
      return useSession(createClient({ baseUrl, fetch, token: session.token }))
    },
    async () => {
      const roleAttributes = [`i${round % 20}`, `round${round % 50}`]
      await admin.call('PATCH /identities/{id}', { params: { id: identityId() }, body: { roleAttributes } })
      return 1
    },
    async () => {
      const roles = { identityRoles: [`#i${round % 20}`], serviceRoles: [`#s${round % 10}`] }
      const body = { name: `of round ${round}`, type: 'Dial', semantic: 'AnyOf', ...roles } as const
      const { data } = await admin.call('POST /service-policies', { body })
      await device.call('GET /services', { query: { limit: 10 } })
      await admin.call('DELETE /service-policies/{id}', { params: { id: data.id } })
      return 3
    },
    async () => {
      const made = { name: `of round ${round}`, type: 'Device', isAdmin: false, enrollment: { ott: true } } as const
      const { data: identity } = await admin.call('POST /identities', { body: made })
      const { data: open } = await admin.call('GET /identities/{id}/enrollments', { params: { id: identity.id } })
      await anonymous.call('POST /enroll/ott', { body: { token: open[0]?.token ?? '', clientCsr: network.csr } })
      await admin.call('DELETE /identities/{id}', { params: { id: identity.id } })
      return 4
    },
  ]
  return {
    async step() {
      round += 1
      try {
        return await one(steps)()
      } catch (error) {
        // A kept connection may end just when it is used again.
        if (error instanceof Error && Reflect.get(error, 'code') === 'ECONNRESET') return 1
        throw error
      }
    },
  }
}
