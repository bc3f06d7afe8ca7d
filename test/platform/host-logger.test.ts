import { pino } from 'pino'
import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'

/** Lines of JSON that a logger wrote. */
function sink() {
  const lines: Record<string, unknown>[] = []
  return { lines, write: (line: string) => void lines.push(JSON.parse(line)) }
}

const WHO = { username: 'somebody', password: 'a-secret' }

async function fail(): Promise<never> {
  throw new TypeError('the hasher of the host is broken')
}

/** A controller that fails unexpectedly in every login, and its answer to one. */
async function failing(logger: Parameters<typeof createController>[0]['logger']) {
  const controller = await createController({
    storage: memoryStorage(),
    address: 'localhost:1280',
    oidc: false,
    ...(logger && { logger }),
    passwordHasher: { hash: fail, verify: fail, needsRehash: () => false },
  })
  const login = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(WHO) }
  const answer = await controller.fetch(
    new Request('https://localhost:1280/edge/client/v1/authenticate?method=password', login),
  )
  await controller.close()
  const { error } = (await answer.json()) as { readonly error: { readonly requestId: string } }
  return { status: answer.status, requestId: error.requestId }
}

describe('a logger of the host', () => {
  const told = (requestId: string) => ({
    requestId,
    error: 'TypeError: the hasher of the host is broken',
    stack: expect.stringContaining('host-logger.test.ts'),
  })

  it('may be one of pino, as it is: message, requestId, error and stack arrive', async () => {
    const out = sink()
    const { status, requestId } = await failing(pino({ level: 'info' }, out))
    expect(status).toBe(500)
    const entry = out.lines.find(({ level }) => level === 50)
    expect(entry).toMatchObject({ msg: 'request failed unexpectedly', ...told(requestId) })
  })

  it('may be a child of one, whose bindings stay', async () => {
    const out = sink()
    const { requestId } = await failing(pino({}, out).child({ part: 'controller' }))
    expect(out.lines.at(-1)).toMatchObject({ part: 'controller', ...told(requestId) })
  })

  it('gets the message first and the fields behind it otherwise', async () => {
    const entries: unknown[][] = []
    const keep = (...entry: unknown[]) => void entries.push(entry)
    const { requestId } = await failing({ info: keep, warn: keep, error: keep })
    expect(entries.at(-1)).toEqual(['request failed unexpectedly', told(requestId)])
  })
})
