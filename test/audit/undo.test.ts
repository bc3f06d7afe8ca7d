import { SYSTEM_CALL } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, delegate, ownApi } from '../support/delegate.ts'
import { withSharedPki } from '../support/shared-pki.ts'

async function scene() {
  const controller = await createTestController(await withSharedPki())
  onTestFinished(() => controller.close())
  const api = ownApi(controller, await adminToken(controller))
  const { admin } = controller
  /** The latest record of a type about an entity. */
  const record = async (entity: string, type = 'entity.updated') => {
    const { entries } = (await api.call('GET /audit', { query: { entity, filter: `type = "${type}"`, limit: 1 } })).data
    return entries[0]?.id ?? expect.fail(`no ${type} of ${entity}`)
  }
  const plan = async (id: string, by = api) => (await by.call('GET /audit/{id}/undo', { params: { id } })).data
  const undo = async (id: string, tag: string, by = api) =>
    (await by.call('POST /audit/{id}/undo', { params: { id }, headers: { 'if-match': `"${tag}"` } })).data
  const service = async (name: string, roleAttributes: readonly string[] = []) =>
    (
      await admin.call('POST /services', {
        body: { name, roleAttributes: [...roleAttributes], encryptionRequired: true },
      })
    ).data.id
  const shown = async (id: string) => (await admin.call('GET /services/{id}', { params: { id } })).data
  return { controller, admin, api, record, plan, undo, service, shown }
}

describe('taking a change back', () => {
  it('is planned first, says who gains and loses access, and is done as planned', async () => {
    const { controller, admin, api, record, plan, undo, service, shown } = await scene()
    const web = await service('web', ['old'])
    const body = { name: 'ann', type: 'Device' as const, isAdmin: false }
    const { data: ann } = await admin.call('POST /identities', { body })
    const policy = { name: 'dial', type: 'Dial' as const, semantic: 'AnyOf' as const }
    await admin.call('POST /service-policies', { body: { ...policy, identityRoles: ['#all'], serviceRoles: ['#new'] } })
    await admin.call('PATCH /services/{id}', { params: { id: web }, body: { name: 'site', roleAttributes: ['new'] } })
    const id = await record(web)

    const planned = await plan(id)
    expect(planned).toMatchObject({
      action: 'update',
      obstacle: null,
      entity: { kind: 'services', id: web, name: 'site' },
      fields: [
        { field: 'name', now: 'site', restored: 'web' },
        { field: 'roleAttributes', now: ['new'], restored: ['old'] },
      ],
      left: [],
    })
    expect(planned.access?.pairs).toContainEqual({
      identity: { id: ann.id, name: 'ann' },
      service: { id: web, name: 'web' },
      type: 'Dial',
      change: 'lost',
    })
    expect(planned.text.split('\n')[0]).toBe("services 'site' would be changed back.")
    expect((await shown(web)).name).toBe('site')

    const done = await undo(id, planned.tag)
    expect(done.text.split('\n')[0]).toBe("services 'site' was changed back.")
    expect(await shown(web)).toMatchObject({ name: 'web', roleAttributes: ['old'] })
    const { entries } = (await api.call('GET /audit', { query: { entity: web, limit: 1 } })).data
    expect(entries[0]).toMatchObject({
      type: 'entity.updated',
      facts: { undoes: id },
      actor: { name: 'Default Admin' },
    })
    expect(await plan(id)).toMatchObject({ action: null, obstacle: 'undone-already' })
    // Taking that back makes the change again.
    const again = await record(web)
    await undo(again, (await plan(again)).tag)
    expect(await shown(web)).toMatchObject({ name: 'site', roleAttributes: ['new'] })
    expect(await controller.engine.services.list(SYSTEM_CALL)).toMatchObject({ totalCount: 1 })
  })

  it('leaves alone what was changed later, entry by entry of a set', async () => {
    const { admin, record, plan, undo, service, shown } = await scene()
    const web = await service('web', ['kept', 'taken'])
    await admin.call('PATCH /services/{id}', {
      params: { id: web },
      body: { name: 'b', roleAttributes: ['kept', 'given'] },
    })
    const id = await record(web)
    await admin.call('PATCH /services/{id}', {
      params: { id: web },
      body: { name: 'c', roleAttributes: ['given', 'kept', 'later'] },
    })
    const planned = await plan(id)
    expect(planned).toMatchObject({
      fields: [{ field: 'roleAttributes', restored: ['kept', 'later', 'taken'] }],
      left: [{ field: 'name', why: 'changed-since' }],
    })
    await undo(id, planned.tag)
    expect(await shown(web)).toMatchObject({ name: 'c', roleAttributes: ['kept', 'later', 'taken'] })
  })

  it('does nothing where the entity was changed after the plan', async () => {
    const { admin, record, plan, undo, service, shown } = await scene()
    const web = await service('web')
    await admin.call('PATCH /services/{id}', { params: { id: web }, body: { name: 'b' } })
    const id = await record(web)
    const { tag } = await plan(id)
    await admin.call('PATCH /services/{id}', { params: { id: web }, body: { roleAttributes: ['meanwhile'] } })
    const refused = { code: 'COULD_NOT_VALIDATE', details: { field: 'If-Match' } }
    await expect(undo(id, tag)).rejects.toMatchObject(refused)
    await expect(undo(id, '')).rejects.toMatchObject(refused)
    expect(await shown(web)).toMatchObject({ name: 'b', roleAttributes: ['meanwhile'] })
  })

  it('compares within the write: of two at once one is done', async () => {
    const { admin, record, plan, undo, service, shown } = await scene()
    const web = await service('web', ['a'])
    await admin.call('PATCH /services/{id}', { params: { id: web }, body: { roleAttributes: ['b'] } })
    const id = await record(web)
    const { tag } = await plan(id)
    const settled = await Promise.allSettled([undo(id, tag), undo(id, tag), undo(id, tag)])
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await shown(web)).roleAttributes).toEqual(['a'])
  })

  it('deletes what was created, unless it was changed since', async () => {
    const { admin, record, plan, undo, service } = await scene()
    const [one, other] = [await service('one'), await service('other')]
    await admin.call('PATCH /services/{id}', { params: { id: other }, body: { roleAttributes: ['later'] } })
    const created = await record(one, 'entity.created')
    const planned = await plan(created)
    expect(planned).toMatchObject({ action: 'delete', fields: [] })
    await undo(created, planned.tag)
    await expect(admin.call('GET /services/{id}', { params: { id: one } })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const kept = await plan(await record(other, 'entity.created'))
    expect(kept).toMatchObject({ action: null, obstacle: 'changed-since', left: [{ field: 'roleAttributes' }] })
    await expect(undo(kept.record, kept.tag)).rejects.toMatchObject({ code: 'COULD_NOT_VALIDATE' })
    expect(await plan(created)).toMatchObject({ action: null, obstacle: 'gone' })
  })

  it('creates what was deleted under its id, and says that credentials do not come back', async () => {
    const { controller, admin, record, plan, undo } = await scene()
    const body = { name: 'ann', type: 'User' as const, isAdmin: false, roleAttributes: ['staff'] }
    const { data } = await admin.call('POST /identities', { body: { ...body, enrollment: { updb: 'user-ann' } } })
    const policy = { name: 'dial', type: 'Dial' as const, semantic: 'AnyOf' as const, serviceRoles: [] }
    const made = await admin.call('POST /service-policies', { body: { ...policy, identityRoles: [`@${data.id}`] } })
    await admin.call('DELETE /identities/{id}', { params: { id: data.id } })
    const id = await record(data.id, 'entity.deleted')
    const planned = await plan(id)
    expect(planned).toMatchObject({ action: 'create', entity: { kind: 'identities', id: data.id, name: 'ann' } })
    expect(planned.text).toContain('it is enrolled anew')
    await undo(id, planned.tag)
    const { data: again } = await admin.call('GET /identities/{id}', { params: { id: data.id } })
    expect(again).toMatchObject({ name: 'ann', roleAttributes: ['staff'], isAdmin: false, enrollment: {} })
    expect(await plan(id)).toMatchObject({ action: null, obstacle: 'there-again' })
    // The policy lost its entry in the same commit, which is a change of its own.
    const role = await record(made.data.id)
    await undo(role, (await plan(role)).tag)
    const { data: policies } = await admin.call('GET /service-policies')
    expect(policies[0]?.identityRoles).toEqual([`@${data.id}`])
    expect((await controller.engine.identities.get(SYSTEM_CALL, data.id)).createdAt).toBe(
      new Date(controller.clock.now()).toISOString(),
    )
  })

  it('restores terms and the ends of rights, and no access that has ended', async () => {
    const { controller, admin, record, plan, undo } = await scene()
    const at = (ms: number) => new Date(controller.clock.now() + ms).toISOString()
    const term = { startsAt: at(60_000), until: at(180_000), reason: 'INC-7' }
    const dial = { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: [], serviceRoles: [] } as const
    const { id } = (await admin.call('POST /service-policies', { body: { ...dial, ...term } })).data
    const policy = async () => (await admin.call('GET /service-policies/{id}', { params: { id } })).data
    const undone = async (entity: string, type?: string) => {
      const last = await record(entity, type)
      return undo(last, (await plan(last)).tag)
    }
    await admin.call('PATCH /service-policies/{id}', { params: { id }, body: { name: 'call', until: at(240_000) } })
    await undone(id)
    expect(await policy()).toMatchObject({ name: 'dial', ...term, phase: 'coming' })
    const rights = { type: 'User', isAdmin: true, rightsUntil: at(180_000) } as const
    const ann = (await admin.call('POST /identities', { body: { name: 'ann', ...rights } })).data.id
    await admin.call('PATCH /identities/{id}', { params: { id: ann }, body: { name: 'anna' } })
    await undone(ann)
    const shown = (await admin.call('GET /identities/{id}', { params: { id: ann } })).data
    expect(shown).toMatchObject({ name: 'ann', isAdmin: true, rightsUntil: rights.rightsUntil })

    await admin.call('DELETE /service-policies/{id}', { params: { id } })
    await controller.elapse(180_000)
    await undone(id, 'entity.deleted')
    expect(await policy()).toMatchObject({ ...term, phase: 'over' })
    await expect(undone(ann)).rejects.toMatchObject({ status: 400, details: { field: 'rightsUntil' } })
  })

  it('says why secrets, what the controller writes and what no request makes are not taken back', async () => {
    const { controller, admin, record, plan } = await scene()
    const ann = await controller.enroll('ann')
    await admin.call('POST /identities/{id}/disable', { params: { id: ann.id }, body: { durationMinutes: 5 } })
    expect(await plan(await record(ann.id))).toMatchObject({ action: 'update', fields: [{ field: 'disabledAt' }, {}] })
    const { data: authenticators } = await admin.call('GET /authenticators', {
      query: { filter: `identityId = "${ann.id}"` },
    })
    const authenticator = authenticators[0]?.id ?? expect.fail()
    await admin.call('DELETE /authenticators/{id}', { params: { id: authenticator } })
    const gone = await plan(await record(authenticator, 'entity.deleted'))
    expect(gone).toMatchObject({ action: null, obstacle: 'not-offered' })
    const { data: type } = await admin.call('POST /config-types', {
      body: { name: 'long', schema: { type: 'object' } },
    })
    const long = { name: 'long', configTypeId: type.id, data: { text: 'x'.repeat(20_000) } }
    const { data: config } = await admin.call('POST /configs', { body: long })
    await admin.call('DELETE /configs/{id}', { params: { id: config.id } })
    expect(await plan(await record(config.id, 'entity.deleted'))).toMatchObject({ action: null, obstacle: 'digest' })
  })

  it('tells beforehand what the controller would refuse', async () => {
    const { admin, record, plan, service } = await scene()
    const web = await service('web')
    const policy = { name: 'dial', type: 'Dial' as const, semantic: 'AnyOf' as const, identityRoles: [] }
    const { data } = await admin.call('POST /service-policies', { body: { ...policy, serviceRoles: [`@${web}`] } })
    await admin.call('PATCH /service-policies/{id}', { params: { id: data.id }, body: { serviceRoles: [] } })
    const id = await record(data.id)
    await admin.call('DELETE /services/{id}', { params: { id: web } })
    const planned = await plan(id)
    expect(planned).toMatchObject({ action: null, obstacle: 'refused' })
    expect(planned.refusal).toBe('serviceRoles: no services found with the given ids: @ takes an id, not a name')
  })

  it('takes the right to read the record, and to do by a request what it does', async () => {
    const { controller, admin, record, plan, undo, service, shown } = await scene()
    const web = await service('web')
    await admin.call('PATCH /services/{id}', { params: { id: web }, body: { name: 'b' } })
    const id = await record(web)
    const [reader, writer, stranger] = [
      await delegate(controller, 'reader', ['service.read']),
      await delegate(controller, 'writer', ['service.read', 'service.update']),
      await delegate(controller, 'stranger', ['config.read']),
    ]
    await expect(plan(id, stranger.api)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const planned = await plan(id, reader.api)
    expect(planned).toMatchObject({ action: 'update', access: null })
    await expect(undo(id, planned.tag, reader.api)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await shown(web)).name).toBe('b')
    await undo(id, planned.tag, writer.api)
    expect((await shown(web)).name).toBe('web')
    const created = await record(web, 'entity.created')
    await expect(undo(created, (await plan(created)).tag, writer.api)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    // Who may change identities gives nobody rights that it does not have, this way either.
    const body = { name: 'boss', type: 'User' as const, isAdmin: true }
    const { data: boss } = await admin.call('POST /identities', { body })
    await admin.call('PATCH /identities/{id}', { params: { id: boss.id }, body: { isAdmin: false } })
    const helper = await delegate(controller, 'helper', ['identity'])
    const raised = await record(boss.id)
    const { tag } = await plan(raised, helper.api)
    await expect(undo(raised, tag, helper.api)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await controller.engine.identities.get(SYSTEM_CALL, boss.id)).isAdmin).toBe(false)
  })
})
