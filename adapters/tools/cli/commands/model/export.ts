import { modelText, readNetwork } from '../../../model/index.ts'
import { defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { requireFree, written } from './model-files.ts'

/** `portcullis export`. */
export const EXPORT = defineCommand({
  options: {
    ...CONNECTION_OPTIONS,
    format: { value: 'yaml|json', choices: ['yaml', 'json'], summary: 'how it is written; default yaml' },
    output: { value: 'FILE', summary: 'where it is written; default: standard output' },
    force: { summary: 'replace a file that is there' },
  },
  details: `Writes the network of a running controller as a model file: references by name, nothing that is as by default,
no credentials and no tokens. Applying the file to the same controller changes nothing.
${CONNECTION_DETAILS}`,
  examples: ['portcullis export --url https://ctrl.example.org:1280 --ca ca.pem --output network.yaml'],
  run: async (call) => {
    const { options, terminal } = call
    const format = options.typed('format') ?? 'yaml'
    if (format !== 'yaml' && format !== 'json') throw new UsageError(`--format takes yaml or json, not '${format}'`)
    const output = options.typed('output')
    requireFree(output, options.flag('force'))
    const text = await withConnection(call, async ({ access: admin }) => modelText(await readNetwork(admin), format))
    return { text: await written(text, output, terminal) }
  },
})
