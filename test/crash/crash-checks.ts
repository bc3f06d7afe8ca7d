import { expect } from 'vitest'
import type { Ledger } from './concurrent-writers.ts'
import type { ServedController } from './served-controller.ts'

const PAGE = 500

interface Found {
  readonly name: string
  readonly roleAttributes: readonly string[] | null
  readonly enrollment: object
}

/** Expects every answer that the writers noted under names with `prefix` to be true of what a restarted process shows. */
export async function expectAcknowledged(controller: ServedController, ledger: Ledger, prefix: string): Promise<void> {
  const identities = await listNamed(controller, '/identities', prefix)
  const routers = await listNamed(controller, '/edge-routers', prefix)
  for (const [name, { state, version }] of ledger) {
    if (!name.startsWith(prefix)) continue
    const isGateway = name.includes('gateway')
    const found = (isGateway ? routers : identities).get(name)
    if (state !== 'open') expect(found !== undefined, `${name} after an acknowledged write`).toBe(state === 'present')
    if (found === undefined) continue
    if (isGateway) expect(identities.has(name), `${name} has its identity`).toBe(true)
    else expect(found.enrollment, `${name} has its enrollment`).toHaveProperty('ott')
    if (version > 0) expect(found.roleAttributes, `${name} after an acknowledged patch`).toEqual(['version1'])
  }
  const known = [...identities.keys(), ...routers.keys()].filter((name) => !ledger.has(name))
  expect(known).toEqual([])
}

/**
 * Expects that no operation left a part of itself: each device and each edge router has one enrollment, each edge router one
 * identity and one system policy, and nobody else has any.
 */
export async function expectWhole(controller: ServedController): Promise<void> {
  const count = async (path: string, filter = 'true') =>
    (await controller.ask('GET', `${path}?limit=1&filter=${encodeURIComponent(filter)}`)).totalCount
  const routers = await count('/edge-routers')
  const devices = await count('/identities', 'name contains "device"')
  expect(await count('/identities', 'name contains "gateway"')).toBe(routers)
  expect(await count('/edge-router-policies', 'isSystem = true')).toBe(routers)
  expect(await count('/enrollments')).toBe(devices + routers)
}

/** Expects the controller's own check of its data to find nothing. */
export async function expectIntegrity(controller: ServedController): Promise<void> {
  expect((await controller.ask('POST', '/database/check-data-integrity')).status).toBe(202)
  for (;;) {
    const { data } = await controller.ask('GET', '/database/data-integrity-results')
    // The end is told together with the results, which are empty where nothing was found.
    if (typeof data === 'object' && data !== null && Reflect.get(data, 'endTime') === null) continue
    expect(data).toMatchObject({ inProgress: false, results: [], error: null })
    return
  }
}

async function listNamed({ ask }: ServedController, path: string, prefix: string): Promise<Map<string, Found>> {
  const filter = encodeURIComponent(`name contains "${prefix}"`)
  const all = new Map<string, Found>()
  for (let offset = 0; ; offset += PAGE) {
    const { data, totalCount } = await ask('GET', `${path}?limit=${PAGE}&offset=${offset}&filter=${filter}`)
    // The API's own document says what a list holds.
    for (const item of data as readonly Found[]) all.set(item.name, item)
    if (offset + PAGE >= totalCount) return all
  }
}
