// Writes examples/deployment/config.schema.json, by which editors complete and check files of options: npm run config-schema. A test
// holds it to what there is.
import { writeFile } from 'node:fs/promises'
import { configSchema } from '../adapters/tools/cli/commands/serve/config-file.ts'

const file = new URL('../examples/deployment/config.schema.json', import.meta.url)
await writeFile(file, `${JSON.stringify(configSchema(), null, 2)}\n`)
