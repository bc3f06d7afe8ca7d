/**
 * A throwaway controller for a whole run of vitest or jest: name `portcullis/testing/global-setup` in `globalSetup`. Tests find it in the
 * environment: `PORTCULLIS_URL`, `PORTCULLIS_CA_PEM`, `PORTCULLIS_TEST_SERVER` (everything about it, JSON). `PORTCULLIS_MODEL` names the
 * file of a model; without it the network is empty.
 *
 * @module portcullis/testing/global-setup
 */
import { startTestServer, type TestServer } from './test-server.ts'

let running: TestServer | undefined

/**
 * Starts it. At the end vitest calls the returned function; jest calls {@link teardown}, named in `globalTeardown`.
 *
 * @example
 * export default { test: { globalSetup: ['portcullis/testing/global-setup'] } }
 */
export default async function setup(): Promise<() => Promise<void>> {
  const { PORTCULLIS_MODEL: model } = process.env
  running = await startTestServer(model === undefined ? {} : { model })
  const { url, ca } = running.facts
  Object.assign(process.env, {
    PORTCULLIS_URL: url,
    PORTCULLIS_CA_PEM: ca,
    PORTCULLIS_TEST_SERVER: JSON.stringify(running.facts),
  })
  return teardown
}

/**
 * Ends it.
 *
 * @example
 * await teardown()
 */
export async function teardown(): Promise<void> {
  await running?.close()
  running = undefined
}
