/** A text that no reader of YAML takes for anything else; every other text is quoted as in JSON. */
const PLAIN = /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_][\w@./-]*$/i

/** The lines of a value in YAML. A model file holds nothing that JSON does not have, so that no library is needed. */
export function yamlOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((one) => led('- ', yamlOf(one)))
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
      const lines = yamlOf(one)
      const isInline = typeof one !== 'object' || one === null || Object.keys(one).length === 0
      return isInline ? [`${textOf(name)}: ${lines[0]}`] : [`${textOf(name)}:`, ...led('  ', lines)]
    })
  }
  return [typeof value === 'string' ? textOf(value) : JSON.stringify(value)]
}

function textOf(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text)
}

/** Lines behind a mark, the further ones below the first. */
function led(mark: string, [first = '', ...further]: readonly string[]): readonly string[] {
  return [`${mark}${first}`, ...further.map((line) => `  ${line}`)]
}
