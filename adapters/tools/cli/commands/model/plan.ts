import { AssertionsFailed, applyPlan, planModel, planText } from '../../../model/index.ts'
import { defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { coloured, readModelFiles, withoutMistakes } from './model-files.ts'

/** Whether entities that the files lack are deleted. */
const PRUNE = { summary: 'delete what the files do not hold, of the kinds that they list' } as const

/** `portcullis plan`. */
export const PLAN = defineCommand({
  operands: 'FILE...',
  options: { ...CONNECTION_OPTIONS, prune: PRUNE },
  hasJson: true,
  details: `Compares the files with a running controller: entity by entity, and who would gain and lose access. The
assertions of the files are tried on the network as it would be. Nothing is written.
${CONNECTION_DETAILS}`,
  examples: ['portcullis plan network.yaml --url https://ctrl.example.org:1280 --ca ca.pem'],
  exitCodes: { 0: 'the plan can be applied', [EXIT_NO]: 'an assertion would fail' },
  run: async (call) => {
    const { options, operands, terminal } = call
    const model = await readModelFiles(operands, 'plan')
    const plan = await withoutMistakes(() =>
      withConnection(call, ({ access: admin }) => planModel(admin, model, { prune: options.flag('prune') })),
    )
    const { changes, unchanged, access, assertions } = plan
    const code = assertions.failed === 0 ? 0 : EXIT_NO
    return { text: coloured(planText(plan), terminal.style), value: { changes, unchanged, access, assertions }, code }
  },
})

/** `portcullis apply`. */
export const APPLY = defineCommand({
  operands: 'FILE...',
  options: { ...CONNECTION_OPTIONS, prune: PRUNE },
  hasJson: true,
  details: `Makes the changes that plan shows, unless an assertion of the files would fail: then nothing is changed. What is
as it should be stays untouched; after an interruption the same command does the rest.
${CONNECTION_DETAILS}`,
  examples: ['portcullis apply network.yaml --url https://ctrl.example.org:1280 --ca ca.pem'],
  exitCodes: { 0: 'the controller has what the files hold', [EXIT_NO]: 'an assertion would fail: nothing was changed' },
  run: async (call) => {
    const { options, operands, terminal } = call
    const model = await readModelFiles(operands, 'apply')
    return withoutMistakes(() =>
      withConnection(call, async ({ access: admin }) => {
        const plan = await planModel(admin, model, { prune: options.flag('prune') })
        const { changes, unchanged, access, assertions } = plan
        const value = { changes, unchanged, access, assertions }
        const text = coloured(planText(plan), terminal.style)
        try {
          await applyPlan(admin, plan, ({ done, total, change }) =>
            terminal.progress(`${done} of ${total}: ${change.action} ${change.key} '${change.name}'`),
          )
        } catch (error) {
          if (!(error instanceof AssertionsFailed)) throw error
          return { text: `${text}\n\nNothing was changed.`, value, code: EXIT_NO }
        }
        terminal.endProgress()
        return { text: changes.length === 0 ? text : `${text}\n\nApplied.`, value }
      }),
    )
  },
})
