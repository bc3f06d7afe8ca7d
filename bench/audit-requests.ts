import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createPkiMaterial } from 'portcullis'
import { z } from 'zod'
import { httpsClient } from '../test/support/https-fetch.ts'
import type { AuditProcessAnswer, AuditProcessTask } from './audit-process.ts'
import { median } from './dataplane/workloads.ts'
import type { BenchRow } from './row.ts'

/** Services of one turn, each created, changed and deleted. */
const TURN = 25
const TURNS = 4
const ROUNDS = 12
const WARM_UP = 2
const ADMIN = { username: 'admin', password: 'admin-password' }
const API = '/edge/management/v1'

interface Side {
  readonly child: ChildProcess
  readonly api: ReturnType<typeof httpsClient>
  readonly token: string
  usedMs: number
  /** Milliseconds of the processor for each round. */
  readonly took: number[]
}

/** Measures writes of an admin over TLS, in the processor time of the process that serves them, with the trail and without it in turns. */
export async function auditByRequest(
  name: string,
  storageOf: (name: string) => AuditProcessTask['storage'],
): Promise<BenchRow> {
  const pki = await createPkiMaterial({
    hosts: ['localhost', '127.0.0.1'],
    trustDomain: 'bench.internal',
    now: Date.now(),
  })
  const sides = [
    await sideOf({ storage: storageOf('served_with'), hasTrail: true, pki, admin: ADMIN }),
    await sideOf({ storage: storageOf('served_without'), hasTrail: false, pki, admin: ADMIN }),
  ] as const
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const side of turn % 2 === 0 ? sides : sides.toReversed()) await writeSome(side, `${round} ${turn}`)
    }
    for (const side of sides) {
      side.child.send('used')
      const { usedMs } = await answerOf(side.child)
      if (round >= WARM_UP) side.took.push(usedMs - side.usedMs)
      side.usedMs = usedMs
    }
  }
  for (const { child, api } of sides) {
    api.close()
    child.disconnect()
    await once(child, 'exit')
  }
  const writes = TURN * TURNS * 3
  const [value, without] = [median(sides[0].took) / writes, median(sides[1].took) / writes]
  return {
    name: `${name}: a write over TLS with the audit trail, processor`,
    value,
    unit: 'ms',
    ceiling: { name: 'the same without it', value: without },
    target: '≤1.10',
  }
}

async function sideOf(task: AuditProcessTask): Promise<Side> {
  const child = fork(new URL('./audit-process.ts', import.meta.url))
  child.send(task)
  const { port } = await answerOf(child)
  const api = httpsClient({ port })
  const login = { method: 'POST', headers: JSON_BODY, body: JSON.stringify(ADMIN) }
  const { data } = LoggedIn.parse(await (await api.fetch(`${API}/authenticate?method=password`, login)).json())
  return { child, api, token: data.token, usedMs: 0, took: [] }
}

const LoggedIn = z.object({ data: z.object({ token: z.string() }) })
const Created = z.object({ data: z.object({ id: z.string() }) })
const JSON_BODY = { 'content-type': 'application/json' }

async function answerOf(child: ChildProcess): Promise<AuditProcessAnswer> {
  const [answer] = await once(child, 'message')
  return answer
}

async function writeSome({ api, token }: Side, turn: string): Promise<void> {
  const headers = { ...JSON_BODY, 'zt-session': token }
  const send = async (method: string, path: string, body?: object) => {
    const answer = await api.fetch(`${API}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`)
    return answer.json()
  }
  for (let count = 0; count < TURN; count += 1) {
    const service = { name: `service ${turn} ${count}`, roleAttributes: ['a', 'b'], encryptionRequired: true }
    const { data } = Created.parse(await send('POST', '/services', service))
    await send('PATCH', `/services/${data.id}`, { roleAttributes: ['a', 'c'] })
    await send('DELETE', `/services/${data.id}`)
  }
}
