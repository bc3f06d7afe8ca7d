import { hidesText, visible } from '../../../src/base/text.ts'
import { isRouterPolicy, MODEL_KINDS, type Network, type NetworkModel } from '../../../src/model/index.ts'
import { yamlPackage } from '../../../src/planning/index.ts'

/**
 * A network as the text of a model file that describes it: references by name, nothing that is as by default, and nothing
 * that the controller makes itself. A network without router policies has empty lists of them. Entities of a kind are in the order of their names.
 *
 * @example
 * await writeFile('network.yaml', await modelText(await readNetwork(admin)))
 */
export async function modelText(network: Network, format: 'yaml' | 'json' = 'yaml'): Promise<string> {
  const model = modelObject(network)
  if (format === 'json') return visible(`${JSON.stringify(model, null, 2)}\n`)
  const yaml = await yamlPackage()
  if (yaml === undefined) throw new Error('writing YAML needs the package yaml: npm install yaml')
  const document = new yaml.Document(model)
  yaml.visit(document, {
    // Written out between quotation marks they still mean themselves, wherever the file is shown.
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && hidesText(scalar.value.replace(/[\n\t]/g, '')))
        scalar.type = 'QUOTE_DOUBLE'
    },
    // Lists of short texts are easier to read on one line.
    Seq: (_, list) => {
      if (list.items.every((item) => yaml.isScalar(item))) list.flow = true
    },
  })
  return visible(document.toString({ lineWidth: 120, flowCollectionPadding: false }))
}

/**
 * A network as a model: the same as an object.
 *
 * @example
 * await writeFile('network.json', JSON.stringify(modelObject(await readNetwork(admin))))
 */
export function modelObject(network: Network): NetworkModel {
  const members = MODEL_KINDS.flatMap(({ key }) => {
    const held = network.all(key).filter(({ isKept }) => !isKept)
    const sorted = held.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    // Left out, the list would mean all with all.
    return held.length === 0 && !isRouterPolicy(key) ? [] : [[key, sorted.map(({ body }) => body)] as const]
  })
  // The bodies are what the API shows, in the form of its requests.
  return Object.fromEntries(members)
}
