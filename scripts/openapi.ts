// Writes the OpenAPI documents of every API: npm run openapi -- DIRECTORY
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiDocuments, VERSION } from 'portcullis'

const [directory] = process.argv.slice(2)
if (directory === undefined) {
  console.error('usage: npm run openapi -- DIRECTORY')
  process.exit(2)
}
mkdirSync(directory, { recursive: true })
for (const [name, document] of Object.entries(await apiDocuments(VERSION))) {
  const file = join(directory, `${name}.json`)
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`)
  console.log(`wrote ${file}`)
}
