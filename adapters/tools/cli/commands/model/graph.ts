import { accessGraph, dot, mermaid, modelNetwork, readNetwork, svg } from '../../../model/index.ts'
import { defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { readModelFiles, requireFree, withoutMistakes, written } from './model-files.ts'

/** `portcullis graph`. */
export const GRAPH = defineCommand({
  operands: '[FILE...]',
  options: {
    ...CONNECTION_OPTIONS,
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
${CONNECTION_DETAILS}`,
  examples: ['portcullis graph network.yaml', 'portcullis graph network.yaml --format svg --output access.svg'],
  run: async (call) => {
    const { options, operands, terminal } = call
    const draw = new Map([
      ['mermaid', mermaid],
      ['dot', dot],
      ['svg', svg],
    ]).get(options.typed('format') ?? 'mermaid')
    if (draw === undefined) throw new UsageError(`--format takes mermaid, dot or svg, not '${options.typed('format')}'`)
    const output = options.typed('output')
    requireFree(output, options.flag('force'))
    const network = await withoutMistakes(async () =>
      operands.length > 0
        ? modelNetwork(await readModelFiles(operands, 'graph'))
        : withConnection(call, ({ access: admin }) => readNetwork(admin)),
    )
    return { text: await written(draw(accessGraph(network)), output, terminal) }
  },
})
