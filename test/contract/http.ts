import { afterEach, describe } from 'vitest'
import { describeAnswers } from './http/answers.ts'
import { describeApiSessions } from './http/api-sessions.ts'
import { describeAuthentication } from './http/authentication.ts'
import { describeBadInput } from './http/bad-input.ts'
import { describeClientServices } from './http/client-services.ts'
import { describeCrud } from './http/crud.ts'
import { describeEdgeRouters } from './http/edge-routers.ts'
import { describeEnrollment } from './http/enrollment.ts'
import { describeIdentities } from './http/identities.ts'
import { describeLists } from './http/lists.ts'
import type { Mount, MountedController } from './http/mount.ts'
import { describeOpenId } from './http/openid.ts'
import { describePaths } from './http/paths.ts'
import { describePolicies } from './http/policies.ts'
import { describePosture } from './http/posture.ts'
import { describePostureCheckSpellings } from './http/posture-check-spellings.ts'
import { describePostureChecks } from './http/posture-checks.ts'
import { describeRefusedLogins } from './http/refused-logins.ts'
import { describeSessions } from './http/sessions.ts'
import { describeValidation } from './http/validation.ts'
import { describeVersion } from './http/version.ts'
import type { ContractPart } from './http-part.ts'

/**
 * Declares the tests that a controller passes however it is mounted. They speak raw HTTP, as foreign clients do: status,
 * headers and JSON. `mount` answers a fresh controller for each test.
 */
export function httpContract(name: string, mount: Mount, part: ContractPart = 'all'): void {
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

    describe('logins by OpenID Connect', () => describeOpenId(open))
    if (part !== 'what an adapter matters to') {
      describe('API sessions', () => describeApiSessions(open))
      describe('enrollment', () => describeEnrollment(open))
      describe('entities', () => describeCrud(open))
      describe('identities', () => describeIdentities(open))
      describe('edge routers', () => describeEdgeRouters(open))
      describe('policies', () => describePolicies(open))
      describe('lists', () => describeLists(open))
      describe('services of the caller', () => describeClientServices(open))
      describe('posture', () => describePosture(open))
      describe('sessions', () => describeSessions(open))
    }
    if (part !== 'what a storage matters to') {
      describe('version and CA certificates', () => describeVersion(open))
      describe('paths', () => describePaths(open))
      describe('answers', () => describeAnswers(open))
      describe('authentication', () => describeAuthentication(open))
      describe('refused authentication', () => describeRefusedLogins(open))
      describe('bad input', () => describeBadInput(open))
    }
    if (part === 'all') {
      describe('validation', () => describeValidation(open))
      describe('posture checks', () => describePostureChecks(open))
      describe('spellings of posture checks', () => describePostureCheckSpellings(open))
    }
  })
}
