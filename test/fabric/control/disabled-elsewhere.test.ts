import { describe, expect, it } from 'vitest'
import { edgeRouters } from '../../support/stored-records.ts'
import type { FabricWorld } from './fabric-world.ts'
import { dialedBy, logIn, registered, sdkWorld, sessionOf } from './sdk-world.ts'

/** Another process over the store changes a router: this one has not looked yet. */
async function changedElsewhere({ controller }: FabricWorld, id: string, change: object) {
  await controller.storage.write(async (tx) => {
    const known = await tx.collection(edgeRouters).get(id)
    if (known === undefined) throw new Error('an unknown router')
    await tx.collection(edgeRouters).update({ ...known, ...change })
  })
}

describe('a router that another process shuts out while no time passes', () => {
  it.each([
    ['disabled', { disabled: true }],
    ['sent to enroll again', { isVerified: false, fingerprint: null }],
  ])('%s: registers no terminator and dials nothing', async (_how, change) => {
    const { world, router, serviceId, hosting } = await sdkWorld()
    const dialing = await sessionOf(world, await logIn(world, 'client'), serviceId, 'Dial')
    expect((await registered(router, hosting, 'terminator-2')).result).toBe('success')
    await changedElsewhere(world, router.id, change)
    expect((await registered(router, hosting, 'terminator-3')).result).not.toBe('success')
    expect(await dialedBy(router, dialing)).toEqual({ refused: 'the router is deleted, disabled or not enrolled' })
    const { data } = await world.controller.admin.call('GET /terminators')
    expect(data.map(({ id }) => id).toSorted()).toEqual(['terminator-1', 'terminator-2'])
  })
})
