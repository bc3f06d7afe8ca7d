import { SYSTEM_CALL } from 'portcullis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from './run-program.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
beforeAll(async () => {
  network = await servedNetwork()
  const { engine } = network.controller
  await engine.identities.create(SYSTEM_CALL, { name: 'laptop "1"', type: 'Device', isAdmin: false })
  await engine.services.create(SYSTEM_CALL, { name: 'prod-db', encryptionRequired: true })
})
afterAll(() => network[Symbol.asyncDispose]())

const grant = (...args: readonly string[]) => runProgram(['grant', ...args], network.environment)
const policies = async () => (await network.controller.engine.servicePolicies.list(SYSTEM_CALL)).items

describe('portcullis grant', () => {
  it('makes a policy whose end and reason are shown, and says how to end it earlier', async () => {
    const { code, stdout, stderr } = await grant('laptop "1"', 'dial', 'prod-db', '--for', '2h', '--reason', 'INC-7')
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/may dial prod-db until 20.*portcullis service-policies delete/),
    ])
    const [policy] = await policies()
    expect(policy).toMatchObject({ id: stdout.trim(), type: 'Dial', reason: 'INC-7', phase: 'in-force' })
    const until = Date.parse(policy?.until ?? '')
    expect(Math.abs(until - Date.now() - 7_200_000)).toBeLessThan(60_000)
    await runProgram(['service-policies', 'delete', stdout.trim()], network.environment)
    expect(await policies()).toEqual([])
  })

  it('gives attributes access to attributes, from an instant to another, for endpoints whose posture passes', async () => {
    const term = ['--from', '2990-12-24T18:00:00Z', '--until', '2990-12-27T08:00:00+01:00']
    const { code } = await grant('#on-call', 'bind', '#prod', ...term, '--posture', '#corp, #mfa', '--name', 'on call')
    expect(code).toBe(0)
    const [policy] = await policies()
    expect(policy).toMatchObject({
      ...{ name: 'on call', type: 'Bind', phase: 'coming', postureCheckRoles: ['#corp', '#mfa'] },
      ...{ startsAt: '2990-12-24T18:00:00.000Z', until: '2990-12-27T07:00:00.000Z' },
    })
  })

  it('gives a role attribute for some time, and ends it', async () => {
    const { engine } = network.controller
    const held = async () => {
      const [found] = (await engine.identities.list(SYSTEM_CALL, { filter: 'type = "Device"' })).items
      return found?.attributeGrants?.map(({ attribute, reason, phase }) => ({ attribute, reason, phase }))
    }
    const given = await grant('laptop "1"', 'attribute', 'finance', '--for', '2h', '--reason', 'INC-8')
    expect([given.code, given.stderr]).toEqual([0, expect.stringMatching(/has finance until 20.*finance --end/)])
    expect(await held()).toEqual([{ attribute: 'finance', reason: 'INC-8', phase: 'in-force' }])
    const ended = await grant('laptop "1"', 'attribute', 'finance', '--end')
    expect([ended.code, ended.stdout, await held()]).toEqual([0, given.stdout, undefined])
  })

  it.each([
    [['laptop "1"', 'attribute', 'finance', '--end'], "no grant of the role attribute 'finance'"],
    [['laptop "1"', 'attribute', 'finance'], '--for or --until'],
    [['laptop "1"', 'attribute', 'finance', '--for', '2h', '--posture', '#corp'], '--posture'],
    [['#a', 'dial', '#b', '--end'], '--end ends a role attribute'],
    [['nobody', 'attribute', 'finance', '--for', '2h'], "no identity of the name or id 'nobody'"],
    [['nobody', 'dial', 'prod-db', '--for', '2h'], "no identity of the name or id 'nobody'"],
    [['#a', 'dial', 'nothing', '--for', '2h'], "no service of the name or id 'nothing'"],
    [['#a', 'dial', '#b'], '--for or --until'],
    [['#a', 'dial', '#b', '--for', '2h', '--until', '2990-01-01T00:00:00Z'], '--for or --until'],
    [['#a', 'dial', '#b', '--for', '2 hours'], '--for takes a duration'],
    [['#a', 'dial', '#b', '--until', 'tomorrow'], '--until takes an instant'],
    [['#a', 'dial', '#b', '--until', '2001-01-01T00:00:00Z'], '--until is past'],
    [['#a', 'dial', '#b', '--from', '2990-01-02T00:00:00Z', '--until', '2990-01-01T00:00:00Z'], 'later than --from'],
    [['#a', '#b', '--for', '2h'], 'grant takes IDENTITY dial|bind SERVICE'],
  ])('refuses %j: %s', async (args, said) => {
    const { code, stderr } = await grant(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  })
})
