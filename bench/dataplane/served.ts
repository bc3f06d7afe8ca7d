import type { ApiClient, ManagementApi } from 'portcullis/client'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { type EnrolledDevice, enrollDevice } from 'portcullis/sdk'
import { freePorts } from '../../examples/traffic/web.ts'
import { type MeasuredProcess, start } from './measured-process.ts'

const ADMIN = { username: 'admin', password: 'admin-of-the-bench' }
const ANY = { semantic: 'AnyOf' } as const

/** A controller and its router in a process of their own, reached over TLS. */
export interface ServedNetwork {
  readonly admin: ApiClient<ManagementApi>
  readonly process: MeasuredProcess
  /** Where endpoints reach the router. */
  readonly address: string
  /** A service, and who may dial and bind it; answers its id and those of the policies. */
  service(name: string, roles: ServiceRoles): Promise<{ readonly id: string; readonly dial: string }>
  /** Enrolls a device. */
  device(name: string, roleAttributes: readonly string[]): Promise<EnrolledDevice>
  close(): Promise<void>
}

interface ServiceRoles {
  readonly clients: readonly string[]
  readonly hosts: readonly string[]
  readonly postureChecks?: readonly string[]
}

/** Serves a network in which every endpoint may use the router. */
export async function serveNetwork(): Promise<ServedNetwork> {
  const [port = 0] = await freePorts(1)
  const { answer, process, stop } = await start<{ ca: string }>('served-process.ts', { port, admin: ADMIN })
  const to = { baseUrl: `https://127.0.0.1:${port}`, fetch: httpsFetch({ ca: answer.ca }) }
  const login = async () => {
    const request = { query: { method: 'password' }, body: ADMIN } as const
    return (await createManagementClient(to).call('POST /authenticate', request)).data.token
  }
  const admin = createManagementClient({ ...to, login })
  const routers = { ...ANY, name: 'all', edgeRouterRoles: ['#all'] }
  await admin.call('POST /edge-router-policies', { body: { ...routers, identityRoles: ['#all'] } })
  await admin.call('POST /service-edge-router-policies', { body: { ...routers, serviceRoles: ['#all'] } })
  return {
    ...{ admin, process, address: `127.0.0.1:${port}`, close: stop },
    service: async (name, { clients, hosts, postureChecks = [] }) => {
      const { id } = (await admin.call('POST /services', { body: { name, encryptionRequired: false } })).data
      const policy = async (type: 'Dial' | 'Bind', identityRoles: readonly string[]) => {
        const postureCheckRoles = type === 'Dial' ? [...postureChecks] : []
        const sides = { serviceRoles: [`@${id}`], identityRoles: [...identityRoles], postureCheckRoles }
        const body = { ...ANY, ...sides, name: `${name} ${type}`, type }
        return (await admin.call('POST /service-policies', { body })).data.id
      }
      await policy('Bind', hosts)
      return { id, dial: await policy('Dial', clients) }
    },
    device: async (name, roleAttributes) => {
      const fields = { name, type: 'Device' as const, isAdmin: false, roleAttributes: [...roleAttributes] }
      const { id } = (await admin.call('POST /identities', { body: { ...fields, enrollment: { ott: true } } })).data
      const { data } = await admin.call('GET /identities/{id}', { params: { id } })
      return enrollDevice({ jwt: data.enrollment.ott?.jwt ?? '' })
    },
  }
}
