import { type AnonymousCall, SYSTEM_CALL } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'
import { withSharedPki } from '../support/shared-pki.ts'

const SOMEBODY: AnonymousCall = { by: 'anonymous' }

describe('who has every right', () => {
  it('is the controller itself, and not a call without a caller', async () => {
    const { engine } = await createTestController(await withSharedPki())
    const admin = { name: 'second admin', type: 'User', isAdmin: true } as const
    await expect(engine.identities.create(SOMEBODY, admin)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(await engine.identities.create(SYSTEM_CALL, admin)).toMatchObject({ isAdmin: true })
  })

  it('is not asked of a request without credentials: it is refused before anything is done for it', async () => {
    const controller = await createTestController(await withSharedPki())
    const enrolling = controller.client().call('POST /current-identity/mfa')
    await expect(enrolling).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('is missing in a delegate, whose refusal names the permission that it lacks', async () => {
    const controller = await createTestController(await withSharedPki())
    const body = { name: 'delegate', type: 'User' as const, isAdmin: false, permissions: ['service.read' as const] }
    const { id } = (await controller.admin.call('POST /identities', { body })).data
    const delegate = controller.management.withToken((await controller.engine.host.startSession(id)).token)
    await expect(delegate.call('GET /services')).resolves.toMatchObject({ data: [] })
    const [reading, deleting] = [
      delegate.call('GET /identities'),
      delegate.call('DELETE /services/{id}', { params: { id: 'any' } }),
    ]
    await expect(reading).rejects.toMatchObject({ details: { message: 'it takes the permission identity.read' } })
    await expect(deleting).rejects.toMatchObject({ details: { message: 'it takes the permission service.delete' } })
  })

  it('is the default admin too, who is told to a host as an administrator', async () => {
    const told: boolean[] = []
    const controller = await createTestController(
      await withSharedPki({
        authorize: ({ caller }) => {
          told.push(caller.isAdmin)
          return true
        },
      }),
    )
    const admin = await controller.asAdmin()
    const { data } = await admin.call('GET /identities', { query: { filter: 'isDefaultAdmin=true' } })
    const id = data[0]?.id ?? ''
    await admin.call('PATCH /identities/{id}', { params: { id }, body: { isAdmin: false } })
    await admin.call('GET /identities/{id}', { params: { id } })
    expect(told).toEqual([true, true, true])
  })
})
