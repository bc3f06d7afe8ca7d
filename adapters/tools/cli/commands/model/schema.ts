import { modelNetwork, modelSchema, readNetwork } from '../../../model/index.ts'
import { defineCommand } from '../../command-line/command.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { readModelFiles, requireFree, withoutMistakes, written } from './model-files.ts'

/** `portcullis schema`. */
export const SCHEMA = defineCommand({
  operands: '[FILE...]',
  options: {
    ...CONNECTION_OPTIONS,
    output: { value: 'FILE', summary: 'where it is written; default: standard output' },
    force: { summary: 'replace a file that is there' },
  },
  details: `Writes a JSON Schema of model files that offers the names and role attributes of model files, or without files those
of a running controller. A YAML file names it in its first line: # yaml-language-server: $schema=network.schema.json
${CONNECTION_DETAILS}`,
  examples: ['portcullis schema network.yaml --output network.schema.json --force'],
  run: async (call) => {
    const { options, operands, terminal } = call
    const output = options.typed('output')
    requireFree(output, options.flag('force'))
    const network = await withoutMistakes(async () =>
      operands.length > 0
        ? modelNetwork(await readModelFiles(operands, 'schema'))
        : withConnection(call, ({ access: admin }) => readNetwork(admin)),
    )
    const text = `${JSON.stringify(await modelSchema(network), null, 2)}\n`
    return { text: await written(text, output, terminal) }
  },
})
