import { serve } from 'portcullis/node'
import { enroll, type Identity, type IdentityFile, type IdentityOptions, openIdentity } from 'portcullis/sdk'
import { createTestController, type TestControllerOptions } from 'portcullis/testing'
import { withSharedPki } from '../support/shared-pki.ts'
import { NETWORK_MODEL } from './network-model.ts'

/** A controller and its router on a socket, with the services `app` (encrypted from end to end) and `plain`. */
export async function servedNetwork(options: TestControllerOptions = {}) {
  const net = await createTestController(await withSharedPki({ clock: 'live', model: NETWORK_MODEL, ...options }))
  const server = await serve(net, { port: 0, fabric: true, router: { roleAttributes: ['all'] } })
  net.changeAddress(`127.0.0.1:${server.port}`)
  const opened: Identity[] = []

  /** The token of a new identity that has a role. */
  const invite = async (name: string, role: string): Promise<string> => {
    const body = { name, type: 'Device' as const, isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
    const { data } = await net.admin.call('POST /identities', { body })
    const shown = await net.admin.call('GET /identities/{id}', { params: { id: data.id } })
    return shown.data.enrollment.ott?.jwt ?? ''
  }
  const open = async (file: IdentityFile | string, options?: IdentityOptions): Promise<Identity> => {
    const identity = await openIdentity(file, options)
    opened.push(identity)
    return identity
  }
  return {
    ...{ net, server, invite, open },
    /** A new identity, enrolled and opened. */
    identity: async (name: string, role: string, options?: IdentityOptions) =>
      open(await enroll(await invite(name, role)), options),
    close: async () => {
      await Promise.all(opened.map((identity) => identity.close()))
      await server.close({ graceMs: 0 })
      await net.close()
    },
  }
}

export type ServedNetwork = Awaited<ReturnType<typeof servedNetwork>>
