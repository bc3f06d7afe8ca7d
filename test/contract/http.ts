import { afterEach, describe } from 'vitest'
import { describeAnswers } from './http/answers.ts'
import { describeApiSessions } from './http/api-sessions.ts'
import { describeAuthentication } from './http/authentication.ts'
import type { Mount, MountedController } from './http/mount.ts'
import { describePaths } from './http/paths.ts'
import { describeRefusedLogins } from './http/refused-logins.ts'
import { describeVersion } from './http/version.ts'

/**
 * Declares the tests that a controller passes however it is mounted. They speak raw HTTP, as foreign clients do: status,
 * headers and JSON. `mount` answers a fresh controller for each test.
 */
export function httpContract(name: string, mount: Mount): void {
  describe(`http contract: ${name}`, () => {
    const mounts: MountedController[] = []
    const open: Mount = async (options) => {
      const mounted = await mount(options)
      mounts.push(mounted)
      return mounted
    }
    afterEach(async () => {
      for (const mounted of mounts.splice(0)) await mounted.dispose()
    })

    describe('version and CA certificates', () => describeVersion(open))
    describe('paths', () => describePaths(open))
    describe('answers', () => describeAnswers(open))
    describe('authentication', () => describeAuthentication(open))
    describe('refused authentication', () => describeRefusedLogins(open))
    describe('API sessions', () => describeApiSessions(open))
  })
}
