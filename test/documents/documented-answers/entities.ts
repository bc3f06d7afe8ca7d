import { adminOf, CLIENT, create, foreignClient } from '../../contract/http/foreign-client.ts'
import type { Subject } from '../../laws/law-subjects.ts'
import type { Scene } from './scene.ts'

/** The life of one entity, with requests that are refused in between. */
export const entity =
  ({ path, discriminator, ...subject }: Subject): Scene =>
  async (open) => {
    const admin = await adminOf(await open())
    const id = await create(admin, path, await subject.create(admin))
    const replacement = await subject.replacement(admin)
    const look = async () => {
      await admin.get(path)
      await admin.get(`${path}/${id}`)
    }
    await look()
    await admin.put(`${path}/${id}`, replacement)
    await look()
    await admin.patch(`${path}/${id}`, { ...discriminator, tags: { a: 'b', c: null, d: true } })
    await admin.patch(`${path}/${id}`, { ...discriminator, tags: 'text' })
    await look()
    await admin.post(path, { ...replacement, name: '' })
    await admin.delete(`${path}/${id}`)
    await admin.delete(`${path}/${id}`)
    await admin.get(`${path}/${id}`)
  }

/** An admin changes a service through the client API. */
export const serviceOfClients: Scene = async (open) => {
  const mounted = await open()
  const admin = await adminOf(mounted)
  const id = await create(admin, '/services', { name: 'web', encryptionRequired: true })
  const api = foreignClient(mounted, CLIENT, admin.token)
  await api.put(`/services/${id}`, { name: 'web-2' })
  await api.patch(`/services/${id}`, { tags: {} })
  await api.delete(`/services/${id}`)
}
