// Writes model.schema.json, by which editors complete and check model files: npm run model-schema. A test holds it to what there is.
import { writeFile } from 'node:fs/promises'
import { modelSchema } from '../adapters/tools/model/index.ts'

await writeFile(new URL('../model.schema.json', import.meta.url), `${JSON.stringify(await modelSchema(), null, 2)}\n`)
