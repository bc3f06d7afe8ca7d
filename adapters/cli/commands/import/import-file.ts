import { applyPlan, planModel, planText, readExport } from '../../../model/index.ts'
import type { Answer } from '../../command-line/command.ts'
import type { GivenOptions } from '../../command-line/options.ts'
import { withConnection } from '../../connection/connect.ts'
import type { Terminal } from '../../output/terminal.ts'
import type { Environment } from '../../settings/setting.ts'
import { withoutMistakes } from '../model/model-files.ts'

/** Applies what `ziti ops export` wrote to a running controller, as a model file is applied. */
export async function importFile(
  file: string,
  options: GivenOptions<'url' | 'ca' | 'profile' | 'dry-run'>,
  environment: Environment,
  terminal: Terminal,
): Promise<Answer> {
  return withoutMistakes(async () => {
    const { model, notes, withSecondFactor } = await readExport(file)
    for (const note of notes) terminal.tell(`warning: ${note}`)
    return withConnection({ options, environment }, async ({ access: admin }) => {
      const plan = await planModel(admin, model)
      const { changes, unchanged, access } = plan
      if (!options.flag('dry-run')) {
        await applyPlan(admin, plan, ({ done, total }) => terminal.progress(`${done} of ${total}`))
        terminal.endProgress()
      }
      const lost = withSecondFactor === 1 ? '1 identity has' : `${withSecondFactor} identities have`
      const warning = `warning: ${lost} a second factor that is not in the file: nothing asks for one when they enroll again.`
      const text = withSecondFactor === 0 ? planText(plan) : `${planText(plan)}\n\n${warning}`
      return { text, value: { changes, unchanged, access, notes, secondFactors: { lost: withSecondFactor } } }
    })
  })
}
