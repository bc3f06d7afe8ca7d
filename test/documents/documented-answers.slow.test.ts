import 'reflect-metadata'
import { describe, expect, it } from 'vitest'
import { POSTURE_CASES } from '../contract/http/posture-table.ts'
import { SUBJECTS } from '../laws/law-subjects.ts'
import { ROWS } from '../support/api-rows.ts'
import { answerChecker } from './answer-checker.ts'
import { certificates, incomplete, passwords } from './documented-answers/credentials.ts'
import * as enrollment from './documented-answers/enrollment.ts'
import { entity, serviceOfClients } from './documented-answers/entities.ts'
import { lists } from './documented-answers/lists.ts'
import { mfa, posture } from './documented-answers/posture.ts'
import { refusals } from './documented-answers/refusals.ts'
import type { Scene } from './documented-answers/scene.ts'
import { watchedController } from './watched-controller.ts'

const checker = await answerChecker()

const SCENES: readonly (readonly [string, Scene])[] = [
  ...SUBJECTS.map((subject) => [`the life of one of ${subject.path}`, entity(subject)] as const),
  ...POSTURE_CASES.map((row) => [`the posture check ${row.name}`, posture(row)] as const),
  ['lists and entities of a network', lists],
  ['a service in the client API', serviceOfClients],
  ['MFA', mfa],
  ['certificates', certificates],
  ['passwords', passwords],
  ['incomplete API sessions', incomplete],
  ['enrollment of identities', enrollment.identities],
  ['enrollment by tokens', enrollment.tokens],
  ['enrollment of routers', enrollment.routers],
  ['refusals', refusals],
]

/** Operations that no scene brings to succeed, and why. */
const UNREACHED: readonly RegExp[] = [
  // Only sessions of an OIDC provider have such tokens.
  /POST \/current-api-session\/totp-token$/,
  // Settings of clusters, which deployed controllers do not serve either.
  /\/controller-settings/,
  // The storage in memory makes none.
  /POST \/database\/snapshot$/,
]

describe('every answer is what its document says', () => {
  it.each(SCENES)('in %s', (_, scene) => scene((options) => watchedController(checker, options)))

  it('and nearly every operation succeeded in one of these scenes', () => {
    const names = ROWS.map(({ api, route }) => `${api} ${route}`)
    const expected = names.filter((name) => !UNREACHED.some((pattern) => pattern.test(name)))
    expect(expected.filter((name) => !checker.succeeded.has(name))).toEqual([])
  })
})
