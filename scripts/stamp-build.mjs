// Writes the instant of the build into the built package; SOURCE_DATE_EPOCH (seconds) makes builds alike.
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../dist/src/version.js', import.meta.url)
const { SOURCE_DATE_EPOCH } = process.env
const builtAt = SOURCE_DATE_EPOCH === undefined ? new Date() : new Date(Number(SOURCE_DATE_EPOCH) * 1000)
const source = readFileSync(file, 'utf8')
const stamped = source.replace(/(BUILD_DATE = )'[^']*'/, `$1'${builtAt.toISOString()}'`)
if (stamped === source) throw new Error(`${file.pathname} names no BUILD_DATE`)
writeFileSync(file, stamped)
