import { describe, expect, it } from 'vitest';
import { affirms, deniedBy } from './negation.js';

const isOpposite = (question: string, text: string, context?: string) =>
  affirms(deniedBy(question), text, context);

describe('affirms', () => {
  it.each([
    ['Which data is not backed up?', 'Data in /home is backed up every night.'],
    ['Who may not enter the laboratory?', 'Visitors with a badge may enter the laboratory.'],
    ['What is not covered by the insurance?', 'Theft from a locked room is covered.'],
    ['Which browsers are not supported?', 'Firefox and Chrome are supported.'],
    ['Which browsers are unsupported?', 'Firefox and Chrome are supported.'],
    ['What does the warranty not cover?', 'The warranty covers broken springs for two years.'],
    ["What isn't included in the rent?", 'Water and heating are included in the rent.'],
    ["Which accounts don't expire?", 'Guest accounts expire after 30 days.'],
    ['Where is smoking not allowed?', 'Smoking is allowed on the terrace.'],
    ['When is parking not free?', 'Parking is free on Sundays.'],
    ['Who does not have to pay a deposit?', 'Members of other clubs have to pay a deposit.'],
    ['Which rooms have no window?', 'The rooms in the south wing have a window to the garden.'],
    ['Which plans come without support?', 'The plan Gold comes with support by phone.'],
    ['Which files are never deleted?', 'Temporary files are deleted after a week.'],
    ['Which countries are excluded from delivery?', 'Delivery to Austria takes two days.'],
    ['In which shops can orders not be collected?', 'Orders can be collected in Linz and Wels.'],
    ['Which plan does NOT have weekend service?', 'Plan: Premium; Weekend service: yes'],
    ['Welche Daten werden nicht gesichert?', 'Die Daten in /home werden jede Nacht gesichert.'],
    ['Wer darf das Labor nicht betreten?', 'Gäste mit Ausweis dürfen das Labor betreten.'],
  ])('%s – %s', (question, text) => {
    expect(isOpposite(question, text)).toBe(true);
  });

  it.each([
    ['Which data is not backed up?', 'Photos are not backed up.'],
    ['Which data is not backed up?', 'Data in /tmp is excluded from what is backed up.'],
    ['Who may not enter the laboratory?', 'Children must never enter the laboratory.'],
    ['What is not covered by the insurance?', 'Flood and earthquakes are exempt from what is covered.'],
    ['Which heart rate belts are not supported?', 'Belts with Bluetooth are supported, ANT+ belts are not.'],
    ['Which browsers are not supported?', 'Internet Explorer is unsupported.'],
    ["What isn't included in the rent?", 'Only water is included in the rent.'],
    ['Where is smoking not allowed?', 'Smoking is prohibited where food is allowed.'],
    ['Which rooms have no window?', 'The archive lacks a window.'],
    ['Which plan does NOT have weekend service?', 'Plan: Basic; Weekend service: no'],
    ['Which soil should not be used for orchids?', 'Potting soil closes the air off.'],
    ['Welche Daten werden nicht gesichert?', 'Fotos werden nicht gesichert.'],
  ])('not: %s – %s', (question, text) => {
    expect(isOpposite(question, text)).toBe(false);
  });

  it.each([
    ['Which data is backed up?', 'Data in /home is backed up every night.'],
    ['What should I do if the pump does not start?', 'Press the green key to start the pump.'],
    ['How do I start a pump that does not start?', 'Press the green key to start the pump.'],
    ['Is smoking not allowed?', 'Smoking is allowed on the terrace.'],
    ['What kind of heating is this guide not for?', 'This guide is for radiators.'],
    ['Why are dogs not allowed at the mill?', 'Cats live in the mill, and dogs are allowed on the bridge.'],
  ])('says nothing where it is not asked what is denied: %s', (question, text) => {
    expect(isOpposite(question, text)).toBe(false);
  });

  it('reads the negation of the sentence that announces a list', () => {
    const question = 'Which accessories are not supplied?';
    expect(isOpposite(question, 'Supplied: bobbins, needles.')).toBe(true);
    expect(isOpposite(question, 'walking foot, supplied on order', 'Not supplied:')).toBe(false);
  });
});
