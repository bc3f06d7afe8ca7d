import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN, startMember } from './member.ts'
import { roundRobin } from './round-robin.ts'

/** The counts of the clients of the cluster. `lost` and `stale` are to be 0. */
export interface ClusterOutcome {
  readonly acknowledged: number
  /** Requests that were not answered, because their process was killed. */
  readonly unanswered: number
  /** Acknowledged writes that were not there at the end. */
  readonly lost: number
  /** Acknowledged writes that the next request, to another process, did not see. */
  readonly stale: number
}

const MEMBERS = 3
const CLIENTS = 4

/** Serves one database by three processes, kills and restarts each under load, and tells what clients saw. */
export async function runCluster(say: (line: string) => void, storage = 'sqlite:cluster.db'): Promise<ClusterOutcome> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-cluster-'))
  // The first makes the certificates that the others use.
  const members = [await startMember(directory, storage)]
  while (members.length < MEMBERS) members.push(await startMember(directory, storage))
  const proxy = await roundRobin(() => members.map(({ port }) => port))
  const ca = await readFile(join(directory, 'pki', 'ca.pem'), 'utf8')
  try {
    const ask = asker(proxy.port, ca)
    const login = await ask('POST', '/authenticate?method=password', '', ADMIN)
    const token = /"token":"([^"]+)"/.exec(login.text)?.[1] ?? ''
    say(`${MEMBERS} processes serve one database; ${CLIENTS} clients write through a round-robin`)

    const acknowledged: string[] = []
    let unanswered = 0
    let stale = 0
    let isOver = false
    const write = async (client: number) => {
      for (let turn = 0; !isOver; turn += 1) {
        const name = `service-${client}-${turn}`
        try {
          const created = await ask('POST', '/services', token, { name, encryptionRequired: true })
          if (created.status !== 201) throw new Error(`${created.status}`)
          const id = /"id":"([^"]+)"/.exec(created.text)?.[1] ?? ''
          acknowledged.push(id)
          if ((await ask('GET', `/services/${id}`, token)).status !== 200) stale += 1
        } catch {
          unanswered += 1
        }
      }
    }
    const clients = Array.from({ length: CLIENTS }, (_, client) => write(client))
    for (const [index, member] of members.entries()) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      await member.kill()
      members[index] = await startMember(directory, storage)
      say(`process ${index + 1} was killed and started again; ${acknowledged.length} writes are acknowledged`)
    }
    isOver = true
    await Promise.all(clients)

    let lost = 0
    for (const id of acknowledged) if ((await ask('GET', `/services/${id}`, token)).status !== 200) lost += 1
    say(`${acknowledged.length} acknowledged, ${unanswered} unanswered, ${lost} lost, ${stale} stale reads`)
    return { acknowledged: acknowledged.length, unanswered, lost, stale }
  } finally {
    proxy.close()
    await Promise.all(members.map((member) => member.kill()))
    await rm(directory, { recursive: true })
  }
}

/** Sends each request on a connection of its own, so that it goes to the next process. */
function asker(port: number, ca: string) {
  const agent = new Agent({ keepAlive: false, ca })
  return (method: string, path: string, token: string, body?: object) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'zt-session': token }
      const url = `/edge/management/v1${path}`
      const outgoing = request({ host: '127.0.0.1', port, path: url, method, headers, agent }, (incoming) => {
        let text = ''
        incoming.setEncoding('utf8').on('data', (more: string) => {
          text += more
        })
        incoming.on('error', reject).on('end', () => resolve({ status: incoming.statusCode ?? 0, text }))
      })
      outgoing.on('error', reject).end(body && JSON.stringify(body))
    })
}
