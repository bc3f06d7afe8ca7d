import type { ExplainOptions } from '../access/explain.ts'
import { type UnexplainedFinding, unexplained } from '../audit/audit-explanation.ts'
import type { AuditFinding } from '../audit/audit-verification.ts'
import { checkOptions, type OptionRules } from '../base/arguments.ts'
import { Lifetime } from '../concurrency/lifetime.ts'
import { SYSTEM_CALL, type SystemCall } from '../context/call.ts'
import { bootstrap } from '../engine/bootstrap.ts'
import { contextOf } from '../engine/entity-services.ts'
import type { Explanation } from '../facts/access/explain/index.ts'
import type { AuditPage, AuditRequest } from '../facts/audit/audit-questions.resource.ts'
import type { UndoPlan } from '../facts/audit/change-undo.rules.ts'
import type { AuthorityChange, PkiStatus, RenewalHolder, RotationRequest } from '../facts/pki/pki-requests.resource.ts'
import { resourceNamed } from '../facts/resources/index.ts'
import { eventDeliveries } from '../facts/webhooks/delivery.resource.ts'
import type { NetworkFinding } from '../insight/reach/network-findings.ts'
import type { PasswordReset, PasswordResetReport } from '../login/administrator-recovery.ts'
import {
  type ImportedEntity,
  type ImportOptions,
  type ImportReport,
  NetworkImport,
} from '../network/database/network-import.ts'
import { repairStore, type StoreRepair } from '../network/database/store-repair.ts'
import type { PasswordHasher } from '../ports/credentials.ts'
import type { Storage } from '../ports/record-storage.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import { deliveriesOf } from '../webhooks/delivery-work.ts'
import { composeEngine } from './compose-engine.ts'
import type { ControllerOptions } from './controller-options.ts'
import { CONTROLLER_OPTIONS } from './option-shapes.ts'

/** The store and the settings that an operator works on. */
export interface OperatorOptions {
  /** May be served by other processes at the same time: they notice changes. */
  readonly storage: Storage
  /** The certificates that the network is served with. By them an import decides which certificates it may extend. */
  readonly pki?: NonNullable<ControllerOptions['pki']>
  /** Default: the clock of the system. */
  readonly clock?: Clock
  /** Default: Argon2id. */
  readonly passwordHasher?: PasswordHasher
  /** Default: a line of JSON for each entry, on standard error. */
  readonly logger?: Logger
  /** The name of the operator in the audit trail. Default: `operator`. */
  readonly name?: string
}

const { storage, pki, clock, passwordHasher, logger } = CONTROLLER_OPTIONS
const OPTIONS: OptionRules<OperatorOptions> = { storage, pki, clock, passwordHasher, logger, name: 'string' }

/** The operations of an operator with access to the store, without a login. */
export interface Operator {
  /**
   * Answers whether an identity may dial or bind a service, each by id or name, and why. Nothing is written.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown identity or service.
   */
  explain(identity: string, service: string, type: 'Dial' | 'Bind', options?: ExplainOptions): Promise<Explanation>
  /**
   * Restores the last way in: sets the password of an administrator and removes every obstacle to its login. A store
   * that was never served gets its default admin.
   *
   * @throws {ControllerError} NOT_FOUND (`username`) when no administrator has it.
   * @throws {ControllerError} COULD_NOT_VALIDATE when the auth policy refuses the password, or the username is invalid.
   */
  resetAdminPassword(reset: PasswordReset): Promise<PasswordResetReport>
  /** Finds contradictions in the store, in words; none when it is whole. Nothing is written. */
  checkIntegrity(): Promise<readonly string[]>
  /**
   * Repairs the contradictions that {@link Operator.checkIntegrity} finds, and answers the outcome of each. An
   * unreadable record that every network has becomes that of a new network; references to missing entities are removed.
   * Other unreadable records stay unless `deletesDamaged`.
   */
  repair(options?: { readonly deletesDamaged?: boolean }): Promise<readonly StoreRepair[]>
  /** Lists the webhooks that have dead letters, with how many. */
  undelivered(): Promise<readonly { readonly webhook: string; readonly dead: number }[]>
  /** Finds oddities of the network: no administrator who can log in, policies that select nothing, services without routers. */
  findings(): Promise<readonly NetworkFinding[]>
  /**
   * Imports entities as the management API of another controller shows them, with their ids. An entity whose id exists
   * already is brought level.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when an entity cannot be imported, with the entity and the field.
   */
  importEntities(entities: readonly ImportedEntity[], options?: ImportOptions): Promise<ImportReport>
  /** All entities of a resource, such as `services`, as the management API shows them. */
  list(resource: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Reads a page of the audit trail, the latest records first. Records without a seal are sealed before. */
  readAudit(request?: AuditRequest): Promise<AuditPage>
  /**
   * Plans how to undo the change of an audit record in the network as it is now. Nothing is written.
   *
   * @throws {ControllerError} NOT_FOUND when there is no such record, or it holds no change.
   */
  planUndo(recordId: string): Promise<UndoPlan>
  /**
   * Undoes a change by the plan with the tag `tag`.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the entity was changed since the plan was made, or nothing can be done.
   * @throws {ControllerError} NOT_FOUND as for the plan.
   */
  undo(recordId: string, tag: string): Promise<UndoPlan>
  /**
   * Verifies the chain of the audit trail, and compares it with a head kept elsewhere where one is given. Names the
   * first record that was altered, removed or added. Nothing is written.
   */
  verifyAudit(head?: { readonly number: number; readonly hash: string }): Promise<AuditFinding>
  /**
   * Compares the entities that operators change with the kept audit records, and names every entity that no record
   * explains: a direct write to the database altered, deleted, added or restored it. Nothing is written.
   *
   * @example
   * const { count, entities } = await operator.unexplained()
   * for (const { kind, name, what } of entities) console.log(kind, name, what)
   */
  unexplained(): Promise<UnexplainedFinding>
  /**
   * The keys of the network, with the certificates that it is served with in {@link OperatorOptions.pki}. Processes that serve the
   * storage follow within seconds.
   */
  readonly keys: {
    /** Answers the state of the keys, and the holders whose certificates end within `withinDays`, 30 unless given. */
    status(withinDays?: number): Promise<PkiStatus>
    /** Lists the holders that have no certificate of the latest authority yet, 500 at most. */
    outstanding(): Promise<readonly RenewalHolder[]>
    /**
     * Makes the next key. Rejects with COULD_NOT_VALIDATE where that would void enrollments or lock out holders beyond
     * what the request allows.
     */
    rotate(request: RotationRequest): Promise<PkiStatus>
    /**
     * Sets until when an authority is valid, or lets an announced authority begin to sign. Refuses to lock out a holder unless `locksOut`.
     */
    change(id: string, request: AuthorityChange): Promise<PkiStatus>
  }
  /** Closes the storage. */
  close(): Promise<void>
}

/** Opens a store as `openOperator` promises. */
export async function assembleOperator(options: OperatorOptions): Promise<Operator> {
  checkOptions('openOperator', options, OPTIONS, 'an object with a storage')
  const { name = 'operator', ...given } = options
  // No token is made and no certificate signed here, so keys and address are made up.
  const { engine, timetable } = await composeEngine({ ...given, address: 'localhost:0', oidc: false })
  /** The call of a command, which the audit trail names beside every change that it makes. */
  const callOf = (command: string): SystemCall => {
    const operator = { name, command }
    engine.auditTrail.noteCommand(operator)
    return { ...SYSTEM_CALL, operator }
  }
  const lifetime = new Lifetime('the operator is done')
  return {
    explain: (...question) => engine.explain(...question),
    resetAdminPassword: async (reset) => {
      await bootstrap(contextOf(engine), undefined)
      return engine.administratorRecovery.resetPassword(callOf('reset-admin-password'), reset)
    },
    checkIntegrity: async () => {
      engine.dataIntegrity.start(SYSTEM_CALL, false)
      await engine.dataIntegrity.finished()
      const { error, results } = engine.dataIntegrity.report
      return [...results.map(({ description }) => description), ...(error === null ? [] : [error])]
    },
    repair: ({ deletesDamaged = false } = {}) => repairStore(contextOf(engine), callOf('repair'), deletesDamaged),
    undelivered: async () => {
      const { items } = await engine.webhooks.find()
      return contextOf(engine).storage.read(async (tx) => {
        const deliveries = tx.collection(eventDeliveries)
        const counted = items.map(async ({ id, name: webhook }) => {
          const { totalCount: dead } = await deliveries.find({ where: deliveriesOf(id, true), limit: 0 })
          return { webhook, dead }
        })
        return (await Promise.all(counted)).filter(({ dead }) => dead > 0)
      })
    },
    findings: () => engine.findings(),
    importEntities: async (entities, importOptions) => {
      if (importOptions?.dryRun !== true) {
        await bootstrap(contextOf(engine), undefined)
        callOf('import')
      }
      return new NetworkImport(contextOf(engine)).run(entities, importOptions)
    },
    list: async (resource) => (await engine.reader.list(SYSTEM_CALL, resourceNamed(resource), {})).items,
    readAudit: (request) => engine.audit.read(SYSTEM_CALL, request),
    planUndo: (recordId) => engine.changeUndo.plan(SYSTEM_CALL, recordId),
    undo: (recordId, tag) => engine.changeUndo.apply(callOf('audit undo'), recordId, tag),
    verifyAudit: (head) => engine.audit.verify(head),
    unexplained: () => unexplained(contextOf(engine)),
    keys: {
      status: async (withinDays) => {
        await engine.keyRotation.takeUp()
        return engine.keyRotation.status(withinDays)
      },
      outstanding: () => engine.keyRotation.outstanding(),
      rotate: async (request) => {
        await engine.keyRotation.resume()
        return engine.keyRotation.rotate(callOf('pki rotate'), request)
      },
      change: async (id, request) => {
        await engine.keyRotation.resume()
        return engine.keyRotation.change(callOf('pki change'), id, request)
      },
    },
    close: () =>
      lifetime.close(
        () => timetable.close(),
        () => engine.auditTrail.close(),
        () => options.storage.close(),
      ),
  }
}
