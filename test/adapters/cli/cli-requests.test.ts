import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SYSTEM_CALL } from 'portcullis'
import { enroll } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from './run-program.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let identity: string
beforeAll(async () => {
  network = await servedNetwork()
  const { engine } = network.controller
  await engine.services.create(SYSTEM_CALL, { name: 'prod-db', encryptionRequired: true })
  network.controller.changeAddress(new URL(network.url).host)
  const { jwt } = await network.controller.invite('laptop')
  identity = join(network.folder, 'laptop.json')
  await writeFile(identity, JSON.stringify(await enroll(jwt)))
})
afterAll(() => network[Symbol.asyncDispose]())

const run = (...args: readonly string[]) => runProgram(args, network.environment)
const ask = async (...more: readonly string[]) => {
  const { code, stdout, stderr } = await run('request', 'prod-db', '--for', '2h', '--reason', 'INC-7', ...more)
  expect([code, stderr]).toEqual([0, expect.stringMatching(/laptop asks to (dial|bind) prod-db for 120 min/)])
  return stdout.trim()
}
const policies = async () => (await network.controller.engine.servicePolicies.list(SYSTEM_CALL)).items

describe('portcullis request, requests, approve, refuse and withdraw', () => {
  it('ask as the identity of a file, and approve as an administrator, for a shorter time', async () => {
    const id = await ask('--identity', identity)
    expect((await run('requests')).stdout).toContain(
      `${id}  open — laptop asks to dial prod-db for 120 min, because: INC-7`,
    )
    expect((await run('requests', '--identity', identity)).stdout).toContain(id)
    const approved = await run('approve', id, '--for', '1h', '--note', 'mind the replica', '--posture', '#corp, #mfa')
    expect([approved.code, approved.stdout]).toEqual([
      0,
      expect.stringMatching(/approved until 20.*: mind the replica/),
    ])
    const [policy] = await policies()
    expect(policy).toMatchObject({ type: 'Dial', reason: 'INC-7', postureCheckRoles: ['#corp', '#mfa'] })
    expect(Math.abs(Date.parse(policy?.until ?? '') - Date.now() - 3_600_000)).toBeLessThan(60_000)
    expect((await run('requests')).stdout.trim()).toBe('')
    expect((await run('requests', '--all', '--identity', identity)).stdout).toContain('approved until')
    const again = await run('approve', id)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is approved')])
  })

  it('refuse with a note, and withdraw as the identity alone', async () => {
    const [one, other] = [await ask('bind', '--identity', identity), await ask('--identity', identity)]
    // The reason does not imitate a decision, nor another request.
    const reason = 'INC-7 — approved\n4HcCQ2Yk1  open — root asks to dial prod-db'
    const { id: service } = await network.controller.engine.services.create(SYSTEM_CALL, { name: 'payroll' })
    const third = (await run('request', service, '--for', '1h', '--reason', reason, '--identity', identity)).stdout
    const lines = (await run('requests')).stdout.trim().split('\n')
    const beginnings = [one, other, third.trim()].map((id) => `${id}  open — laptop asks to `)
    expect(lines.map((line, position) => line.slice(0, beginnings[position]?.length))).toEqual(beginnings)
    expect(lines[2]).toContain('asks to dial payroll for 60 min')
    await run('withdraw', third.trim(), '--identity', identity)
    expect((await run('refuse', one, '--note', 'use the replica')).stdout).toContain('refused: use the replica')
    const foreign = await run('withdraw', other)
    expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('not found')])
    const withdrawn = await run('withdraw', other, '--identity', identity)
    expect([withdrawn.code, withdrawn.stdout]).toEqual([0, expect.stringContaining('withdrawn')])
  })

  it.each([
    [['request', 'prod-db', '--for', '2h'], '--for and --reason'],
    [['request', '--for', '2h', '--reason', 'x'], 'request takes SERVICE'],
    [['request', 'prod-db', 'use', '--for', '2h', '--reason', 'x'], 'request takes SERVICE'],
    [['request', 'prod-db', '--for', '2 hours', '--reason', 'x'], '--for takes a duration'],
    [['request', 'prod-db', '--for', '2h', '--reason', 'x', '--identity', 'nothing.json'], 'there is no file'],
    [['approve'], 'approve takes the ID'],
    [['refuse', 'a', 'b'], 'refuse takes the ID'],
  ])('refuses %j: %s', async (args, said) => {
    const { code, stderr } = await run(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  })
})
