import { defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../settings/usage-error.ts'
import { CONTROLLER_DETAILS, CONTROLLER_OPTIONS } from './controller-options.ts'

/** `portcullis graph`. */
export const GRAPH = defineCommand({
  name: 'graph',
  summary: 'draw who reaches what, grouped by role attributes',
  operands: '[FILE...]',
  options: {
    ...CONTROLLER_OPTIONS,
    format: {
      value: 'mermaid|dot|svg',
      choices: ['mermaid', 'dot', 'svg'],
      summary: 'how it is drawn; default mermaid',
    },
    output: { value: 'FILE', summary: 'where it is written; default: standard output' },
    force: { summary: 'replace a file that is there' },
  },
  details: `Draws the network of model files, or without files that of a running controller. Lines are dashed where posture is
asked for, and thick where services are hosted.
${CONTROLLER_DETAILS}`,
  examples: ['portcullis graph network.yaml', 'portcullis graph network.yaml --format svg --output access.svg'],
  run: async ({ options, operands, environment, terminal }) => {
    const { readModelFiles, requireFree, withoutMistakes, written } = await import('./model-files.ts')
    const { accessGraph, dot, mermaid, modelNetwork, readNetwork, svg } = await import('../../../model/index.ts')
    const { asAdmin } = await import('../../connection/as-admin.ts')
    const draw = new Map([
      ['mermaid', mermaid],
      ['dot', dot],
      ['svg', svg],
    ]).get(options.typed('format') ?? 'mermaid')
    if (draw === undefined) throw new UsageError(`--format takes mermaid, dot or svg, not '${options.typed('format')}'`)
    const output = options.typed('output')
    requireFree(output, options.flag('force'))
    const address = { url: options.value('url'), caFile: options.typed('ca') }
    const network = await withoutMistakes(async () =>
      operands.length > 0
        ? modelNetwork(await readModelFiles(operands, 'graph'))
        : asAdmin(address, environment, readNetwork),
    )
    return { text: await written(draw(accessGraph(network)), output, terminal) }
  },
})
