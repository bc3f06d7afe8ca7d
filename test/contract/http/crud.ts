import { describe, expect, it } from 'vitest'
import { dump, expectDone, expectFieldError, expectUnknown } from './errors.ts'
import { adminOf, create, type ForeignClient, read } from './foreign-client.ts'
import { KINDS, type Kind } from './kinds.ts'
import type { Mount } from './mount.ts'

const TABLE = KINDS.map((kind) => [kind.path, kind] as const)
const VERBS = ['put', 'patch'] as const

const minimal = ({ minimal }: Kind, name = 'one') => ({ name, ...minimal })

/** The operations that every entity has in common. */
export function describeCrud(open: Mount): void {
  describe.each(TABLE)('%s', (path, kind) => {
    const make = async (admin: ForeignClient, name?: string) => {
      const id = await create(admin, path, minimal(kind, name))
      return { id, at: `${path}/${id}` }
    }

    it('a create answers the id and where the entity is', async () => {
      const admin = await adminOf(await open())
      const { status, body } = await admin.post(path, minimal(kind))
      expect(status).toBe(201)
      expect(body).toEqual({
        data: { _links: { self: { href: `.${path}/${body.data.id}` } }, id: expect.any(String) },
        meta: { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' },
      })
    })

    it('shows what was not said by its default', async () => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const { id, at } = await make(admin)
      const now = new Date(mounted.clock.now()).toISOString()
      const base = { id, name: 'one', createdAt: now, updatedAt: now, tags: {} }
      const answer = await admin.get(at)
      expect(answer.status).toBe(200)
      expect(answer.body.data).toMatchObject({ ...kind.defaults, ...base })
      expect(answer.body.data._links.self).toEqual({ href: `.${at}` })
      expect(answer.body.meta).toEqual({ apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' })
    })

    it('keeps everything that a create may say', async () => {
      const admin = await adminOf(await open())
      const id = await create(admin, path, { ...minimal(kind), ...kind.changed })
      expect(await read(admin, `${path}/${id}`)).toMatchObject({ ...kind.changed, ...kind.shown })
    })

    it('lists it as it shows it', async () => {
      const admin = await adminOf(await open())
      const { id, at } = await make(admin)
      const { data, meta } = (await admin.get(`${path}?filter=name="one"`)).body
      expect(data).toEqual([await read(admin, at)])
      expect(data[0].id).toBe(id)
      expect(meta.pagination).toEqual({ limit: 10, offset: 0, totalCount: 1 })
    })

    it('PUT replaces everything: what is not sent takes its default', async () => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const id = await create(admin, path, { ...minimal(kind), ...kind.changed })
      const created = new Date(mounted.clock.now()).toISOString()
      const updated = new Date(mounted.clock.advance(1000)).toISOString()
      expectDone(await admin.put(`${path}/${id}`, minimal(kind, 'two')))
      const base = { id, name: 'two', tags: {}, createdAt: created, updatedAt: updated }
      expect(await read(admin, `${path}/${id}`)).toMatchObject({ ...kind.defaults, ...base })
    })

    it.each(Object.entries(kind.changed))('PATCH of %s changes nothing else', async (member, value) => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const { at } = await make(admin)
      const before = await read(admin, at)
      const updatedAt = new Date(mounted.clock.advance(1000)).toISOString()
      expectDone(await admin.patch(at, { ...kind.discriminator, [member]: value }))
      const shown = kind.shown?.[member] ?? value
      const display = kind.shown?.[`${member}Display`]
      const displays = display === undefined ? {} : { [`${member}Display`]: display }
      expect(await read(admin, at)).toEqual({ ...before, [member]: shown, ...displays, updatedAt })
    })

    it('PATCH of nothing, and of null, changes nothing', async () => {
      const admin = await adminOf(await open())
      const id = await create(admin, path, { ...minimal(kind), ...kind.changed })
      const before = await read(admin, `${path}/${id}`)
      expectDone(await admin.patch(`${path}/${id}`, { ...kind.discriminator }))
      const nulls = Object.fromEntries(
        Object.keys({ ...minimal(kind), ...kind.changed }).map((member) => [member, null]),
      )
      expectDone(await admin.patch(`${path}/${id}`, { ...nulls, ...kind.discriminator }))
      expect(await read(admin, `${path}/${id}`)).toEqual(before)
    })

    it('DELETE removes it once', async () => {
      const admin = await adminOf(await open())
      const { id, at } = await make(admin)
      expectDone(await admin.delete(at))
      expectUnknown(await admin.get(at), kind.singular, id)
      expectUnknown(await admin.delete(at), kind.singular, id)
      expect((await admin.get(`${path}?filter=name="one"`)).body.data).toEqual([])
      await make(admin)
    })

    it('an unknown id is not found by any verb', async () => {
      const admin = await adminOf(await open())
      for (const id of ['unknown', '__proto__', 'constructor', '..x', "' OR 1=1 --"]) {
        const at = `${path}/${encodeURIComponent(id)}`
        expectUnknown(await admin.get(at), kind.singular, id)
        expectUnknown(await admin.put(at, minimal(kind)), kind.singular, id)
        expectUnknown(await admin.patch(at, { ...kind.discriminator, name: 'x' }), kind.singular, id)
        expectUnknown(await admin.delete(at), kind.singular, id)
      }
    })

    it.each(kind.required)('a create without %s is refused', async (member) => {
      const admin = await adminOf(await open())
      const before = await dump(admin)
      const body: Record<string, unknown> = minimal(kind)
      expectFieldError(
        await admin.post(path, { ...body, [member]: undefined }),
        member,
        `${member} in body is required`,
      )
      expectFieldError(await admin.post(path, { ...body, [member]: null }), member, `${member} in body is required`)
      expect(await dump(admin)).toBe(before)
    })

    it.each(kind.required.filter((member) => member !== 'typeId'))('a PUT without %s is refused', async (member) => {
      const admin = await adminOf(await open())
      const { at } = await make(admin)
      const before = await dump(admin)
      const body: Record<string, unknown> = minimal(kind)
      expectFieldError(await admin.put(at, { ...body, [member]: undefined }), member, `${member} in body is required`)
      expect(await dump(admin)).toBe(before)
    })

    it('no two have the same name, and none has an empty one', async () => {
      const admin = await adminOf(await open())
      const { at } = await make(admin)
      await make(admin, 'taken')
      await make(admin, 'TAKEN')
      const before = await dump(admin)
      expectFieldError(await admin.post(path, minimal(kind, 'taken')), 'name', 'name must be unique')
      for (const verb of VERBS) {
        expectFieldError(await admin[verb](at, minimal(kind, 'taken')), 'name', 'name must be unique')
      }
      for (const blank of ['', ' \t']) {
        expectFieldError(await admin.post(path, minimal(kind, blank)), 'name', 'name is required')
        for (const verb of VERBS) {
          expectFieldError(await admin[verb](at, minimal(kind, blank)), 'name', 'name is required')
        }
      }
      expect(await dump(admin)).toBe(before)
      expectDone(await admin.put(at, minimal(kind)))
    })

    it('read-only members are ignored by create, PUT and PATCH', async () => {
      const mounted = await open()
      const admin = await adminOf(mounted)
      const plain = await make(admin, 'plain')
      const expected = await read(admin, plain.at)
      const id = await create(admin, path, { ...minimal(kind), ...kind.readOnly })
      expect(id).not.toBe('forged')
      const forged = await read(admin, `${path}/${id}`)
      const own = Object.keys(kind.readOnly).filter((member) => !['id', '_links', 'enrollmentToken'].includes(member))
      for (const member of own) expect([member, forged[member]]).toEqual([member, expected[member]])
      expect(forged._links.self.href).toBe(`.${path}/${id}`)
      expectDone(await admin.put(`${path}/${id}`, { ...minimal(kind), ...kind.readOnly }))
      expect(await read(admin, `${path}/${id}`)).toEqual(forged)
      expectDone(await admin.patch(`${path}/${id}`, { ...kind.readOnly, ...kind.discriminator }))
      expect(await read(admin, `${path}/${id}`)).toEqual(forged)
    })
  })
}
