import { XMLBuilder } from 'fast-xml-parser';
import type { Domain } from './domain.ts';

const builder = new XMLBuilder({
  attributeNamePrefix: '@',
  textNodeName: '#text',
  ignoreAttributes: false,
  suppressEmptyNode: true,
  format: true,
});

/** The one place where XML is written. Escapes text and attributes. */
export const writeXml = (domain: Domain): string => builder.build({ domain });
